"""The three pipes of a running child, served together, so that neither side can block the other."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from contextlib import suppress
from typing import IO

_CHUNK_BYTES = 64 * 1024
_IDLE_SECONDS = 0.005


class ChildPipes:
    """Feeds `stdin` and keeps the first `max_stdout_bytes` of stdout and the last `max_stderr_bytes` of stderr."""

    def __init__(
        self, process: subprocess.Popen[bytes], stdin: bytes, max_stdout_bytes: int, max_stderr_bytes: int
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._to_send = memoryview(stdin)
        self._max_stdout_bytes = max_stdout_bytes
        self._max_stderr_bytes = max_stderr_bytes
        self._stdout = bytearray()
        self._stderr = bytearray()
        self._streams = (process.stdin, process.stdout, process.stderr)
        self._selector = selectors.PollSelector()  # needs no descriptor, so it works when descriptors have run out
        self.capped = False
        """More than `max_stdout_bytes` came on stdout."""
        for stream, event in zip(self._streams, (selectors.EVENT_WRITE, *[selectors.EVENT_READ] * 2), strict=True):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, event, stream)

    @property
    def stdout(self) -> bytes:
        return bytes(self._stdout)

    @property
    def stderr_tail(self) -> bytes:
        return bytes(self._stderr[max(0, len(self._stderr) - self._max_stderr_bytes) :])

    @property
    def stdin_taken(self) -> bool:
        """Every byte went into the pipe."""
        return not self._to_send

    @property
    def outputs_open(self) -> bool:
        """Some process still holds stdout or stderr."""
        return not (self._streams[1].closed and self._streams[2].closed)

    def serve(self, seconds: float) -> None:
        """Move what can be moved now; wait at most `seconds` for the first byte."""
        if not self._selector.get_map():
            time.sleep(min(seconds, _IDLE_SECONDS))
            return
        for key, _ in self._selector.select(seconds):
            try:
                ended = self._send() if key.data is self._streams[0] else self._receive(key.data)
            except BlockingIOError:
                continue
            except OSError:  # broken pipe: the other side is gone
                ended = True
            if ended:
                self._close(key.data)

    def close_stdin(self) -> None:
        self._close(self._streams[0])

    def close(self) -> None:
        for stream in self._streams:
            self._close(stream)
        self._selector.close()

    def _close(self, stream: IO[bytes]) -> None:
        if not stream.closed:
            self._selector.unregister(stream)
            with suppress(OSError):
                stream.close()

    def _send(self) -> bool:
        written = os.write(self._streams[0].fileno(), self._to_send[:_CHUNK_BYTES]) if self._to_send else 0
        self._to_send = self._to_send[written:]
        return not self._to_send

    def _receive(self, stream: IO[bytes]) -> bool:
        chunk = os.read(stream.fileno(), _CHUNK_BYTES)
        if stream is self._streams[1]:
            room_bytes = self._max_stdout_bytes - len(self._stdout)
            self._stdout += chunk[:room_bytes]
            self.capped = self.capped or len(chunk) > room_bytes
        else:
            self._stderr += chunk
            if len(self._stderr) > 2 * self._max_stderr_bytes + _CHUNK_BYTES:
                del self._stderr[: len(self._stderr) - self._max_stderr_bytes]
        return not chunk
