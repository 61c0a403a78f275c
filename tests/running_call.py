"""A call of `memory` that goes on beside the test; it is used as a `subprocess.Popen` is."""

from __future__ import annotations

import io
import os
import selectors
import signal
import socket
import struct
import time
from collections.abc import Sequence
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
