"""Text for a terminal, measured in its cells: two for a wide character, none for a combining one. Cut and padded texts, tables,
and passages in lines with some of their characters marked."""

from __future__ import annotations

# Only a terminal has cells: what is piped does without the tables of `wcwidth`, which take longer to load than a search.
from collections.abc import Sequence


def terminal_columns() -> int:
    """Cells in a line of the terminal, 80 where there is none; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only whoever prints for a person needs it

    return shutil.get_terminal_size().columns


def cells_of(text: str) -> int:
    """The cells that a text takes; control characters count as nothing, and should not be in it."""
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, room: int) -> str:
    """The text, or as much of it as leaves room for an ellipsis of one cell; never half of a grapheme."""
    from wcwidth import clip

    return text if cells_of(text) <= room else f"{clip(text, 0, max(room - 1, 0), fillchar='')}…"


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
    from wcwidth import ljust

    return [
        _GAP.join((*map(ljust, before, widths), cut(last, room))).rstrip()
        for *before, last in zip(*columns, strict=True)
    ]


def _room(columns: Sequence[Sequence[str]], line_cells: int) -> int:
    """What is left for the last column."""
    return line_cells - sum(_cells_of_column(column) + len(_GAP) for column in columns[:-1])


def _cells_of_column(column: Sequence[str]) -> int:
    return max(map(cells_of, column))


# -- passages ---------------------------------------------------------------------------------------------------------

_MARK, _PLAIN = "\x1b[1;33m", "\x1b[0m"


def broken_lines(text: str, width_cells: int) -> list[str]:
    """The text in lines of at most so many cells, broken between words where that is possible."""
    from wcwidth import wrap

    return wrap(text, width_cells, break_on_hyphens=False)


def marked_lines(text: str, marks: Sequence[tuple[int, int]], width_cells: int, *, colour: bool) -> list[str]:
    """The same; with `colour` the marked ranges, half-open ones of characters in their order, stand out."""
    if not colour:
        return broken_lines(text, width_cells)
    written, at = "", 0
    for mark_start, mark_end in marks:
        first, last = max(mark_start, at), min(mark_end, len(text))
        if first < last:
            written += f"{text[at:first]}{_MARK}{text[first:last]}{_PLAIN}"
            at = last
    return broken_lines(written + text[at:], width_cells)
