"""What a command prints on: text for people, one JSON document with `--json`, errors on stderr."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

from agent_memory.documents import error_document
from agent_memory.errors import Error
from agent_memory.text.plain_text import one_line

# -- terminal ---------------------------------------------------------------------------------------------------------
# Text for a terminal, measured in its cells: two for a wide character, none for a combining one. Cutting and padding,
# tables, and passages in lines with some of their characters marked.


def terminal_columns() -> int:
    """Returns the cells in a line of the terminal, 80 without one; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only printing for a person needs it

    return shutil.get_terminal_size().columns


def cells_of(text: str) -> int:
    """Returns the cells that a text takes; control characters count as nothing, and should not be in it."""
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, room: int) -> str:
    """Returns the text, cut to leave room for an ellipsis of one cell if it is longer; never cuts a grapheme."""
    from wcwidth import clip

    return text if cells_of(text) <= room else f"{clip(text, 0, max(room - 1, 0), fillchar='')}…"


# -- tables -----------------------------------------------------------------------------------------------------------

_GAP = "  "
_ENOUGH_CELLS = 36
"""If the last column has less, other columns give way."""
_LEAST_CELLS = 8


def table_lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width_cells: int | None = None, give_way: Sequence[str] = ()
) -> list[str]:
    """Returns the headings, then one line for each row, without trailing white space: columns as wide as they need to
    be, the last one cut to the rest of the line. On a narrow line the columns with the headings in `give_way` are left
    out, one after the other, until the last column has room."""
    line_cells = width_cells if width_cells is not None else terminal_columns()
    columns = [(max(map(cells_of, column)), column) for column in zip(headings, *rows, strict=True)]

    def room() -> int:
        """Returns what is left for the last column."""
        return line_cells - sum(cells + len(_GAP) for cells, _ in columns[:-1])

    for heading in give_way:
        if room() >= min(_ENOUGH_CELLS, columns[-1][0]):
            break
        columns = [(cells, column) for cells, column in columns if column[0] != heading]
    from wcwidth import ljust

    widths = [cells for cells, _ in columns[:-1]]
    return [
        _GAP.join((*map(ljust, before, widths), cut(last, max(room(), _LEAST_CELLS)))).rstrip()
        for *before, last in zip(*(column for _, column in columns), strict=True)
    ]


# -- passages ---------------------------------------------------------------------------------------------------------

_MARK, _OFF = "\x1b[1;33m", "\x1b[0m"
_LAST_SPACES = r" +((?:\x1b\[[\d;]*m)*)$"


def broken_lines(text: str, width_cells: int) -> list[str]:
    """Returns the text in lines of at most so many cells, broken between words where that is possible."""
    from wcwidth import wrap

    return wrap(text, width_cells, break_on_hyphens=False)


def marked_lines(text: str, marks: Sequence[tuple[int, int]], width_cells: int, *, colour: bool) -> list[str]:
    """Returns the same; with `colour` the marked ranges, half-open and in order, stand out."""
    if not colour:
        return broken_lines(text, width_cells)
    written, at = "", 0
    for mark_start, mark_end in marks:
        first, last = max(mark_start, at), min(mark_end, len(text))
        if first < last:
            written += f"{text[at:first]}{_MARK}{text[first:last]}{_OFF}"
            at = last
    # A space at which a line is broken within a mark stays before the end of the mark.
    return [re.sub(_LAST_SPACES, r"\1", line) for line in broken_lines(written + text[at:], width_cells)]


# -- the two streams -------------------------------------------------------------------------------------------------

_ERASE = "\r\x1b[K"
BOLD, DIM, RED, GREEN, CYAN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
_PLAIN = "\x1b[0m"


class Console:
    """Two streams and the choice between text and JSON. With `holds`, what goes to stderr is printed on closing, as one
    document if the call failed: `{"error": …}`, with `"warnings"` if there were any."""

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool = False, holds: bool = False) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.json = json
        self.closing: list[Callable[[], Iterable[str]]] = []
        """Called when the console is closed; each returns the remaining warnings."""
        self._holds = holds
        self._held: list[str] = []
        self._failure: dict[str, Any] | None = None
        self._has_line = False

    def out(self, *lines: str) -> None:
        """Prints lines for people; with `--json` nothing but the document goes to stdout."""
        if lines and not self.json:
            self._clear_line()
            # At once: ten thousand calls of `print` take as long as reading the store.
            print("\n".join(lines), file=self.stdout)

    def answer(self, document: dict[str, Any], *lines: str) -> None:
        """Prints the answer of the command: the document of a `--json` call, else the lines."""
        if self.json:
            print(self._encoded(document, self.stdout), file=self.stdout)
        self.out(*lines)

    def warn(self, *sentences: str) -> None:
        for each in sentences:
            if self._holds:
                self._held.append(each)
            else:
                self.err(f"memory: {each}")

    def err(self, text: str) -> None:
        """Prints a line on stderr, at once."""
        self._clear_line()
        print(text, file=self.stderr)

    def fail(self, error: Error) -> int:
        """Reports an error on stderr, as a sentence or as JSON, without any secrets that the call quoted (P20). Returns
        the exit code."""
        failure = error_document(error)
        if not self.json:
            self.err(f"memory: {failure['error']['message']}")
            return error.exit_code
        self._failure = failure
        if not self._holds:
            self._say_failure()
        return error.exit_code

    def close(self) -> None:
        """Prints what was held; if the call failed, as one document."""
        for warnings_of in self.closing:
            self.warn(*warnings_of())
        self.closing.clear()
        if self._failure is not None:
            self._failure |= {"warnings": self._held} if self._held else {}
            self._say_failure()
        else:
            for each in self._held:
                self.err(f"memory: {each}")
        self._held = []

    def _say_failure(self) -> None:
        self.err(self._encoded(self._failure, self.stderr))
        self._failure = None

    def _encoded(self, document: Any, stream: TextIO) -> str:
        """Returns the JSON, with characters as they are if the stream can show them all; else escaped as JSON does it,
        not as the stream would."""
        encoding = (stream.encoding or "").lower().replace("_", "-")
        return json.dumps(document, ensure_ascii=encoding not in ("utf-8", "utf8"), indent=2)

    def progress(self, text: str) -> None:
        """Shows what long work is doing, on a terminal only; each report replaces the last, until something is printed.
        The beginning stays in view, with the cursor before it, so that other output does not follow it. On a terminal
        that cannot erase (TERM=dumb) each report stays as a line of its own."""
        if not self.stderr.isatty() or self.json:
            return
        columns = terminal_columns()
        line = one_line(text, 4 * columns)
        self._has_line = can_erase(self.stderr)
        self.stderr.write(f"{_ERASE}{cut(line, max(columns - 1, 1))}\r" if self._has_line else f"{line}\n")
        self.stderr.flush()

    def _clear_line(self) -> None:
        if self._has_line:
            self.stderr.write(_ERASE)
            self.stderr.flush()
            self._has_line = False

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at stdout."""
        return self.stdout.isatty() and not self.json

    def rows(
        self, headings: Sequence[str], rows: Sequence[Sequence[str]], give_way: Sequence[str] = ()
    ) -> Iterator[str]:
        """Yields a table for a terminal, see `table_lines`; else a line for each row, with tabs between its fields."""
        if self.is_terminal and rows:
            heading, *lines = table_lines(headings, rows, give_way=give_way)
            yield self.styled(BOLD, heading)
            yield from lines
        else:
            yield from map("\t".join, rows)

    @property
    def colour(self) -> bool:
        """Whether colour is welcome: a terminal, and no NO_COLOR (https://no-color.org)."""
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def styled(self, style: str, text: str) -> str:
        return styled(style, text, colour=self.colour)


def styled(style: str, text: str, *, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour and style else text


def can_erase(stream: TextIO) -> bool:
    """Returns whether a line that was printed on this stream can be erased."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
