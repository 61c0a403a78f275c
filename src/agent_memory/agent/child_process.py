"""A bounded child process: in its own session, all pipes served, nothing left behind (P10); and the environment of an
agent command (P21, P23).

`subprocess.run` with a time-out ends only the child, not its descendants, and waits forever on a pipe that a grandchild
holds. Here the whole process group is killed, and our ends of the pipes are closed.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Any

from attrs import frozen

from agent_memory.caller import depth_of
from agent_memory.errors import StoreIo
from agent_memory.files.paths import store_io
from agent_memory.files.root import DEPTH_VARIABLE

MAX_STDOUT_BYTES = 4 * 1024 * 1024
MAX_STDERR_BYTES = 64 * 1024
GRACE_SECONDS = 2.0
"""How long the pipes may stay open after the child's exit."""
TERMINATE_SECONDS = 1.0
"""How long the child may take to obey SIGTERM before SIGKILL."""

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_CHUNK_BYTES = 64 * 1024
_TICK_SECONDS = 0.05
"""How often to check for an exit while the pipes are silent."""


@frozen
class Finished:
    exit_status: int
    """0 to 255, or the negated number of the signal that ended it."""
    stdout: bytes
    """The first `max_stdout_bytes`."""
    stderr_tail: bytes
    """The last `MAX_STDERR_BYTES`."""
    timed_out: bool
    stdout_capped: bool
    """True if it wrote more than `max_stdout_bytes` and was ended for that."""
    stdin_taken: bool
    """True if all of stdin went into the pipe; False if the child closed it or ended before."""


def run_child(
    argv: Sequence[str],
    *,
    stdin: bytes,
    env: Mapping[str, str],
    cwd: str,
    timeout_seconds: float,
    max_stdout_bytes: int = MAX_STDOUT_BYTES,
    grace_seconds: float = GRACE_SECONDS,
) -> Finished:
    """Returns the child's outcome, within `timeout_seconds` + `TERMINATE_SECONDS` + `grace_seconds`.

    `argv` never passes through a shell; a bare name is looked up in the PATH of `env`. A time-out or too much output
    ends the whole group: SIGTERM, then SIGKILL. Whatever holds the pipes `grace_seconds` after the child's exit is
    killed; a process that left the group with `setsid` is out of reach, and only our ends of its pipes are closed.

    If the child cannot be started, raises StoreIo with the operation `start` and the path `cwd` if that is at fault,
    else `argv[0]`. An exception that passes through (Ctrl-C, or SIGTERM and SIGHUP, raised as SystemExit meanwhile)
    kills the group first.
    """
    with _hold_ending_signals() as let_through:
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise store_io(error, "start", cwd if error.filename == cwd else argv[0]) from None
        except ValueError as error:  # a NUL or a lone surrogate in an argument or a variable
            raise StoreIo(argv[0], "start", "EINVAL", str(error)) from None
        pipes = _Pipes(process, stdin, max_stdout_bytes)

        def goes_on() -> bool:
            return not _has_exited(process) and not pipes.capped

        try:
            let_through()
            pipes.serve_while(goes_on, timeout_seconds)
            timed_out = goes_on()
            if timed_out or pipes.capped:
                _signal_group(process, signal.SIGTERM)
                pipes.serve_while(lambda: not _has_exited(process), TERMINATE_SECONDS)
                _signal_group(process, signal.SIGKILL)
            else:
                pipes.close(pipes.stdin)
                pipes.serve_while(lambda: pipes.outputs_open and not pipes.capped, grace_seconds)
                if pipes.outputs_open:
                    _signal_group(process, signal.SIGKILL)
            pipes.serve_while(lambda: pipes.outputs_open, _TICK_SECONDS)
            # Reaped only now: while it is a zombie, its number cannot be reused for a process that we would then kill.
            exit_status = process.wait()
            stderr_tail = bytes(pipes.stderr[-MAX_STDERR_BYTES:])
            return Finished(
                exit_status, bytes(pipes.stdout), stderr_tail, timed_out, pipes.capped, stdin_taken=not pipes.to_send
            )
        finally:
            if process.returncode is None:
                _signal_group(process, signal.SIGKILL)
                process.wait()
            pipes.close_all()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    waitid = getattr(os, "waitid", None)
    if waitid is None:  # macOS before Python 3.13
        return process.poll() is not None
    try:
        return waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # our process ignores SIGCHLD: the kernel has reaped it
        return True


class _Pipes:
    """The three pipes of a running child, served together so that neither side can block the other: sends `to_send` and
    keeps the first `max_stdout_bytes` of stdout and the end of stderr."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes, max_stdout_bytes: int) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.to_send = memoryview(stdin)
        self._max_stdout_bytes = max_stdout_bytes
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.stdin = process.stdin
        self._outputs = (process.stdout, process.stderr)
        self._selector = selectors.PollSelector()  # needs no descriptor, so it works when they have run out
        self.capped = False
        """Set when more than `max_stdout_bytes` came on stdout."""
        for stream in (self.stdin, *self._outputs):
            os.set_blocking(stream.fileno(), False)
            event = selectors.EVENT_WRITE if stream is self.stdin else selectors.EVENT_READ
            self._selector.register(stream, event, stream)

    @property
    def outputs_open(self) -> bool:
        """Returns whether some process still holds stdout or stderr."""
        return not all(stream.closed for stream in self._outputs)

    def serve_while(self, goes_on: Callable[[], bool], seconds: float) -> None:
        """Moves data while there is any, for at most this many seconds."""
        deadline = time.monotonic() + seconds
        while goes_on() and (left_seconds := deadline - time.monotonic()) > 0:
            if not self._selector.get_map():
                time.sleep(min(left_seconds, 0.005))
                continue
            for key, _ in self._selector.select(min(left_seconds, _TICK_SECONDS)):
                try:
                    ended = self._send() if key.data is self.stdin else self._receive(key.data)
                except BlockingIOError:
                    continue
                except OSError:  # broken pipe: the other side has closed
                    ended = True
                if ended:
                    self.close(key.data)

    def close_all(self) -> None:
        for stream in (self.stdin, *self._outputs):
            self.close(stream)
        self._selector.close()

    def close(self, stream: IO[bytes]) -> None:
        if not stream.closed:
            self._selector.unregister(stream)
            with suppress(OSError):
                stream.close()

    def _send(self) -> bool:
        written = os.write(self.stdin.fileno(), self.to_send[:_CHUNK_BYTES]) if self.to_send else 0
        self.to_send = self.to_send[written:]
        return not self.to_send

    def _receive(self, stream: IO[bytes]) -> bool:
        chunk = os.read(stream.fileno(), _CHUNK_BYTES)
        if stream is self._outputs[0]:
            room_bytes = self._max_stdout_bytes - len(self.stdout)
            self.stdout += chunk[:room_bytes]
            self.capped = self.capped or len(chunk) > room_bytes
        else:
            self.stderr += chunk
            if len(self.stderr) > 2 * MAX_STDERR_BYTES + _CHUNK_BYTES:
                del self.stderr[:-MAX_STDERR_BYTES]
        return not chunk


@contextmanager
def _hold_ending_signals() -> Generator[Callable[[], None], None, None]:
    """Holds back the signals that end us while a child is started, or it would survive us unnoticed.

    Yields a function that lets them through: from then on SIGTERM and SIGHUP raise SystemExit if they would end us,
    SIGINT raises KeyboardInterrupt as usual, and pending ones come first.
    """
    came: int | None = None
    is_open = False
    before: dict[int, Any] = {}

    def raise_what_came() -> None:
        nonlocal came
        number, came = came, None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        if number is not None:
            raise SystemExit(128 + number)

    def handle(number: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = number
        if is_open:
            raise_what_came()

    def let_through() -> None:
        nonlocal is_open
        is_open = True
        raise_what_came()

    try:
        if threading.current_thread() is threading.main_thread():
            for each in _ENDING:
                known = signal.getsignal(each)
                if known in (signal.SIG_DFL, signal.default_int_handler):
                    before[each] = known
                    signal.signal(each, handle)
        yield let_through
    finally:
        for number, known in before.items():
            signal.signal(number, known)
        if came is not None:  # no child was started: the signal now does what it would have done
            signal.raise_signal(came)


ALLOWED_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
"""The variables of our environment that every agent command gets, besides `ALLOWED_PREFIXES` and its preset's own."""

ALLOWED_PREFIXES = ("LC_", "XDG_")


def child_environment(
    environ: Mapping[str, str], passed: Iterable[str], preset_env: Mapping[str, str]
) -> dict[str, str]:
    """Returns the whole environment of an agent command: the allow-list, the names in `passed`, the preset's values,
    and the depth, which nothing can override."""
    wanted = {*ALLOWED_VARIABLES, *passed}
    kept = {name: value for name, value in environ.items() if name in wanted or name.startswith(ALLOWED_PREFIXES)}
    return kept | dict(preset_env) | {DEPTH_VARIABLE: str(depth_of(environ) + 1)}
