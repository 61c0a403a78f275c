"""The process's own output streams, made so that no command ends because of them.

A reader that goes away (`memory list | head -1`), a full disk behind `>`, a stream that was closed (`>&-`): the command does
its work to the end, and `refused` says what became of its words.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO, cast


class Output(io.TextIOBase):
    """Writes to a stream until the stream refuses, then into the void. A character that its encoding lacks is escaped."""

    def __init__(self, stream: TextIO | None, descriptor: int) -> None:
        self._stream = stream if stream is not None else _void()
        self._descriptor = descriptor
        self.refused: OSError | None = None
        """What the stream refused with; None for a reader that went away, which is its right."""
        reconfigure = getattr(self._stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")

    def write(self, text: str, /) -> int:
        """Never raises OSError."""
        try:
            self._stream.write(text)
        except OSError as error:
            self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Never raises OSError."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def _give_up(self, error: OSError) -> None:
        if not isinstance(error, BrokenPipeError):
            self.refused = error
        # What the stream has buffered would be tried, and refused, once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._descriptor)


@contextmanager
def guarded_streams() -> Generator[Output, None, None]:
    """Within it `sys.stdout` and `sys.stderr` are `Output`s; the one for stdout."""
    for descriptor in (0, 1, 2):
        _occupy(descriptor)
    before = sys.stdout, sys.stderr
    out, err = Output(sys.stdout, 1), Output(sys.stderr, 2)
    sys.stdout, sys.stderr = cast("TextIO", out), cast("TextIO", err)
    try:
        yield out
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before


def _occupy(descriptor: int) -> None:
    """Where a standard stream was closed, its number goes to the void, lest a file of the store gets it."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _void() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
