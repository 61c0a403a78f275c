"""Text for a terminal, measured in its cells: two for a wide character, none for a combining one. Cut and padded texts, tables,
and passages in lines with some of their characters marked."""

from __future__ import annotations

# Only a terminal has cells: what is piped does without the tables of `wcwidth`, which take longer to load than a search.
import re
from collections.abc import Iterable, Iterator, Sequence

ELLIPSIS = "…"


def terminal_columns() -> int:
    """Cells in a line of the terminal, 80 where there is none; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only whoever prints for a person needs it

    return shutil.get_terminal_size().columns


def cells_of(text: str) -> int:
    """The cells that a text takes; control characters count as nothing, and should not be in it."""
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, room: int, ellipsis: str = ELLIPSIS) -> str:
    """The text, or as much of it as leaves room for an ellipsis of one cell; never half of a grapheme."""
    if cells_of(text) <= room:
        return text
    from wcwidth import iter_graphemes

    kept, used = "", 0
    for grapheme in iter_graphemes(text):
        used += cells_of(grapheme)
        if used > room - 1:
            break
        kept += grapheme
    return f"{kept}{ellipsis}"


def padded(text: str, width: int) -> str:
    """The text with blanks behind it, up to this many cells."""
    return text + " " * (width - cells_of(text))


# -- tables -----------------------------------------------------------------------------------------------------------

_GAP = "  "
_ENOUGH_CELLS = 36
"""For the last column: with less, other columns give way."""
_LEAST_CELLS = 8


def table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width_cells: int | None = None,
    give_way: Sequence[str] = (),
) -> list[str]:
    """The headings, then one line a row, without trailing white space: columns as wide as they need to be, the last one cut
    to what is left of the line. On a narrow line the columns with the headings in `give_way` are left out, one after the
    other, until the last column has room."""
    line_cells = width_cells if width_cells is not None else terminal_columns()
    columns = list(zip(headings, *rows, strict=True))
    for heading in give_way:
        if _room(columns, line_cells) >= min(_ENOUGH_CELLS, _cells_of_column(columns[-1])):
            break
        columns = [column for column in columns if column[0] != heading]
    widths = [_cells_of_column(column) for column in columns[:-1]]
    room = max(_room(columns, line_cells), _LEAST_CELLS)
    return [
        _GAP.join((*map(padded, before, widths), cut(last, room))).rstrip()
        for *before, last in zip(*columns, strict=True)
    ]


def _room(columns: Sequence[Sequence[str]], line_cells: int) -> int:
    """What is left for the last column."""
    return line_cells - sum(_cells_of_column(column) + len(_GAP) for column in columns[:-1])


def _cells_of_column(column: Sequence[str]) -> int:
    return max(map(cells_of, column))


# -- passages ---------------------------------------------------------------------------------------------------------

_MARK, _PLAIN = "\x1b[1;33m", "\x1b[0m"
_WORD = re.compile(r"\S+\s*")

Range = tuple[int, int]
"""Half-open, of characters."""


def broken_lines(text: str, width_cells: int) -> list[str]:
    """The text in lines of at most so many cells, broken between words where that is possible."""
    return marked_lines(text, (), width_cells, colour=False)


def marked_lines(text: str, marks: Sequence[Range], width_cells: int, *, colour: bool) -> list[str]:
    """The same; with `colour` the marked ranges stand out."""
    return [
        _marked(text, line, marks) if colour else text[line[0] : line[1]].rstrip() for line in _lines(text, width_cells)
    ]


def _lines(text: str, width_cells: int) -> Iterator[Range]:
    start = end = used = 0
    for piece_start, piece_end in _pieces(text, width_cells):
        piece = text[piece_start:piece_end]
        if used and used + cells_of(piece.rstrip()) > width_cells:
            yield start, end
            start, used = piece_start, 0
        end = piece_end
        used += cells_of(piece)
    if end > start:
        yield start, end


def _pieces(text: str, width_cells: int) -> Iterator[Range]:
    """Words with the white space behind them; the graphemes of a word that is wider than a line."""
    from wcwidth import iter_graphemes

    for word in _WORD.finditer(text):
        if cells_of(word[0].rstrip()) <= width_cells:
            yield word.span()
            continue
        at = word.start()
        for grapheme in iter_graphemes(word[0]):
            yield at, at + len(grapheme)
            at += len(grapheme)


def _marked(text: str, line: Range, marks: Iterable[Range]) -> str:
    start, end = line[0], line[0] + len(text[line[0] : line[1]].rstrip())
    written, at = "", start
    for mark_start, mark_end in marks:
        first, last = max(mark_start, at), min(mark_end, end)
        if first < last:
            written += f"{text[at:first]}{_MARK}{text[first:last]}{_PLAIN}"
            at = last
    return written + text[at:end]
