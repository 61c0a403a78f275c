"""Calls of `memory` that begin with everything loaded: processes like those that PROGRAM starts, in a tenth of the time."""

from __future__ import annotations

import atexit
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

PROGRAM = ("-c", "import sys; from agent_memory.surfaces.entry import main; sys.exit(main())")
INT32 = struct.Struct("!i")
LOOKED_AT_ON_STARTING = ("PYTHON", "LC_", "LANG", "COVERAGE_", "LD_")
"""Variables that a process obeys before its first line runs begin so; but PYTHONPATH can be obeyed later."""


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
    return _server().run(decoded, data, cwd, environ, limit_seconds)


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
                env={**os.environ, **(further or {})},
            )
        self._lock = threading.Lock()

    def run(
        self, words: Sequence[str], data: bytes, cwd: Path, environ: Mapping[str, str], limit_seconds: float
    ) -> subprocess.CompletedProcess[bytes]:
        """One call of `memory` to its end."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as told:
            asked.write(data)
            asked.seek(0)
            wanted = {"words": list(words), "program": PROGRAM, "cwd": str(cwd), "environ": dict(environ)}
            code = self.call([asked.fileno(), said.fileno(), told.fileno()], wanted, limit_seconds)
            for each in (said, told):
                each.seek(0)
            return subprocess.CompletedProcess(words, code, said.read(), told.read())

    def call(self, streams: Sequence[int], wanted: Mapping[str, object], limit_seconds: float) -> int:
        """The exit code of a call; of one that a signal ended, minus its number."""
        ours, theirs = socket.socketpair()
        with ours, ours.makefile("rb") as answers:
            with theirs, self._lock:
                socket.send_fds(self._control, [b"c"], [*streams, theirs.fileno()])
            ours.sendall(json.dumps(wanted).encode("utf-8", "surrogatepass"))
            ours.shutdown(socket.SHUT_WR)
            (child,) = INT32.unpack(answers.read(INT32.size))
            ours.settimeout(limit_seconds)
            try:
                (code,) = INT32.unpack(answers.read(INT32.size))
            except TimeoutError:
                os.kill(child, 9)
                raise
        return int(code)

    def stop(self) -> None:
        self._control.close()
        self._process.wait()


_servers: list[ForkingServer] = []


def _server() -> ForkingServer:
    if not _servers:
        _servers.append(ForkingServer())
        atexit.register(_servers[0].stop)
    return _servers[0]
