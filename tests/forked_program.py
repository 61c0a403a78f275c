"""Calls of `memory` that begin with everything loaded: processes like those that PROGRAM starts, in a tenth of the time."""

from __future__ import annotations

import atexit
import io
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

INT32 = struct.Struct("!i")


def exit_code(answers: socket.socket, limit_seconds: float | None) -> int:
    """What `forking_server` says when a call ends. TimeoutError, or BlockingIOError for a limit of 0, if it does not."""
    answers.settimeout(limit_seconds)
    (code,) = INT32.unpack(answers.recv(INT32.size, socket.MSG_WAITALL))
    return int(code)


class RunningCall:
    """A forked call, with what `forking_server` says of it on `answers`, and our ends of its pipes."""

    def __init__(
        self,
        pid: int,
        answers: socket.socket,
        stdin: io.BufferedWriter | None,
        out: io.BufferedReader,
        err: io.BufferedReader,
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = stdin, out, err
        self._answers = answers

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended; of a call that a signal ended, minus its number. TimeoutError after `timeout`
        seconds."""
        if self.returncode is None:
            self.returncode = exit_code(self._answers, timeout)
            self._answers.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code, or None while it goes on."""
        try:
            return self.wait(0)
        except (BlockingIOError, TimeoutError):
            return None

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """All that it says from here on, on its output and as errors, once it has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self._hang_up()
        out, err = _drained([self.stdout, self.stderr], deadline)
        self.wait(_left(deadline))
        for stream in (self.stdout, self.stderr):
            stream.close()
        return out, err

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> RunningCall:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for its end, and closes what we hold of it."""
        for stream in (self.stdout, self.stderr):
            stream.close()
        self._hang_up()
        self.wait()

    def _hang_up(self) -> None:
        if self.stdin is not None:
            try:
                self.stdin.close()
            except BrokenPipeError:  # it has ended, and read no further
                return


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def _drained(streams: Sequence[io.BufferedReader], deadline: float | None) -> tuple[bytes, ...]:
    """What each stream holds to its end; nothing of one that is closed."""
    read = {id(stream): bytearray() for stream in streams}
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            if not stream.closed:
                selector.register(stream, selectors.EVENT_READ, read[id(stream)])
        while selector.get_map():
            ready = selector.select(_left(deadline))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                key.data.extend(chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
    return tuple(bytes(read[id(stream)]) for stream in streams)


PROGRAM = ("-P", "-c", "import sys; from agent_memory.cli.entry import main; sys.exit(main())")
LOOKED_AT_ON_STARTING = ("PYTHON", "LC_", "LANG", "LD_")
"""Variables that a process obeys before its first line runs begin so; but PYTHONPATH can be obeyed later."""

MEASURING: dict[str, str] = {}
"""Variables by which coverage measures a process, where it is measured: that of the server and of its calls."""

MEASURED_CALLS = 1
"""As many calls of a command with the same options are measured in each worker: to measure one takes longer than to run it, and the
next of the same sort reaches hardly anything new."""

MEASURED_PIPELINES = 30
"""Of calls of these there are as many."""
PIPELINES = ("backfill", "consolidate", "defrag", "undo", "watch")
"""What goes through the pipelines does something else in each store, whatever its options."""


def run_program(
    words: Sequence[str | bytes], data: bytes, cwd: Path, environ: Mapping[str, str], limit_seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """One call of `memory` to its end, as `subprocess.run` would tell it."""
    decoded = [os.fsdecode(word) for word in words]
    if _starting(environ) != _starting(os.environ):
        return subprocess.run(
            [sys.executable, *PROGRAM, *words],
            input=data,
            capture_output=True,
            timeout=limit_seconds,
            cwd=cwd,
            env=environ,
            check=False,
        )
    return shared_server().run(decoded, data, cwd, environ, limit_seconds)


def start_program(
    words: Sequence[str], cwd: Path, environ: Mapping[str, str], *, has_stdin: bool = False
) -> RunningCall:
    """A call of `memory` that goes on beside the test; without `has_stdin` it reads nothing."""
    assert _starting(environ) == _starting(os.environ), "a forked call cannot begin so: use subprocess"
    return shared_server().start(words, cwd, environ, has_stdin=has_stdin)


def _starting(environ: Mapping[str, str]) -> dict[str, str]:
    named = (name for name in environ if name.startswith(LOOKED_AT_ON_STARTING) and name != "PYTHONPATH")
    return {name: environ[name] for name in named}


class ForkingServer:
    """A `forking_server`, started in the environment of the first call and what is added to it."""

    def __init__(self, further: Mapping[str, str] | None = None) -> None:
        self._control, theirs = socket.socketpair()
        program = Path(__file__).with_name("forking_server.py")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(program), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=program.parent,
                env={**os.environ, **MEASURING, **(further or {})},
            )
        self._lock = threading.Lock()
        self._made: Counter[tuple[str, ...]] = Counter()

    def run(
        self, words: Sequence[str], data: bytes, cwd: Path, environ: Mapping[str, str], limit_seconds: float
    ) -> subprocess.CompletedProcess[bytes]:
        """One call of `memory` to its end."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as told:
            asked.write(data)
            asked.seek(0)
            streams = [asked.fileno(), said.fileno(), told.fileno()]
            code = self.call(streams, self.wanted(words, cwd, environ), limit_seconds)
            for each in (said, told):
                each.seek(0)
            return subprocess.CompletedProcess(words, code, said.read(), told.read())

    def start(
        self, words: Sequence[str], cwd: Path, environ: Mapping[str, str], *, has_stdin: bool = False
    ) -> RunningCall:
        """One call of `memory` that goes on beside the test."""
        with ExitStack() as theirs:
            said, told, asked = os.pipe(), os.pipe(), os.pipe() if has_stdin else (os.open(os.devnull, os.O_RDONLY), -1)
            for each in (asked[0], said[1], told[1]):
                theirs.callback(os.close, each)
            pid, answers = self._begun([asked[0], said[1], told[1]], self.wanted(words, cwd, environ))
        stdin = open(asked[1], "wb") if has_stdin else None  # noqa: SIM115 - closed by the call
        return RunningCall(pid, answers, stdin, open(said[0], "rb"), open(told[0], "rb"))

    def call(self, streams: Sequence[int], wanted: Mapping[str, object], limit_seconds: float) -> int:
        """The exit code of a call; of one that a signal ended, minus its number."""
        child, answers = self._begun(streams, wanted)
        with answers:
            try:
                return exit_code(answers, limit_seconds)
            except TimeoutError:
                os.kill(child, 9)
                raise

    def _begun(self, streams: Sequence[int], wanted: Mapping[str, object]) -> tuple[int, socket.socket]:
        """The process id of a call that has these streams, and where the server will say how it ended."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            socket.send_fds(self._control, [b"c"], [*streams, theirs.fileno()])
        ours.sendall(json.dumps(wanted).encode("utf-8", "surrogatepass"))
        ours.shutdown(socket.SHUT_WR)
        (child,) = INT32.unpack(ours.recv(INT32.size, socket.MSG_WAITALL))
        return child, ours

    def wanted(self, words: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> dict[str, object]:
        """What a call begins with."""
        kind = (*words[:1], *sorted({word.partition("=")[0] for word in words if word.startswith("-")}))
        self._made[kind] += 1
        most = MEASURED_CALLS if {*words[:1]}.isdisjoint(PIPELINES) else MEASURED_PIPELINES
        return {
            "words": list(words),
            "program": PROGRAM,
            "cwd": str(cwd),
            "environ": dict(environ),
            "is_measured": sys.gettrace() is not None
            and self._made[kind] <= most,  # nothing of a test marked `large` is
        }

    def stop(self) -> None:
        self._control.close()
        self._process.wait()


_servers: list[ForkingServer] = []


def shared_server() -> ForkingServer:
    """That of this process."""
    if not _servers:
        _servers.append(ForkingServer())
        atexit.register(_servers[0].stop)
    return _servers[0]
