"""One line on a terminal that says what long work is at, and goes away when there is something to say."""

from __future__ import annotations

import os
from typing import TextIO

from agent_memory.surfaces.cells import terminal_columns

_ERASE = "\r\x1b[K"


class ProgressLine:
    """The line of one console. On a terminal that cannot erase (TERM=dumb) each report stays as a line of its own."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, stream: TextIO, text: str) -> None:
        """Put this in place of what the line says. Its beginning stays in view; the cursor is in front of it, so that
        whatever else is printed does not follow it."""
        from agent_memory.domain.text.plain_text import one_line
        from agent_memory.surfaces.cells import cut

        columns = terminal_columns()
        line = one_line(text, 4 * columns)
        if can_erase(stream):
            stream.write(f"{_ERASE}{cut(line, max(columns - 1, 1))}\r")
            self._is_shown = True
        else:
            stream.write(f"{line}\n")
        stream.flush()

    def clear(self, stream: TextIO) -> None:
        """Take the line away, if it is there."""
        if self._is_shown:
            stream.write(_ERASE)
            stream.flush()
            self._is_shown = False


def can_erase(stream: TextIO) -> bool:
    """Whether what was printed on this stream's line can be taken back."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def erase_line(stream: TextIO) -> None:
    """Take away whatever a console that is out of reach may have left on the line."""
    if can_erase(stream):
        stream.write("\x1b[K")
