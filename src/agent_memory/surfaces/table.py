"""A plain table for a terminal: columns as wide as they need to be, the last one cut to what is left of the line."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.surfaces.cells import cells_of, cut, padded, terminal_columns

GAP = "  "
_ENOUGH_CELLS = 36
"""For the last column: with less, other columns give way."""
_LEAST_CELLS = 8


def render_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width_cells: int | None = None,
    give_way: Sequence[str] = (),
) -> str:
    """The table, its lines without trailing white space; wide characters count as the two cells that they take."""
    return "\n".join(table_lines(headings, rows, width_cells, give_way))


def table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    width_cells: int | None = None,
    give_way: Sequence[str] = (),
) -> list[str]:
    """The same as a list: the headings, then one text a row. On a narrow line the columns with these headings are left out,
    one after the other, until the last column has room."""
    line_cells = width_cells if width_cells is not None else terminal_columns()
    columns = list(zip(headings, *rows, strict=True))
    for heading in give_way:
        if _room(columns, line_cells) >= min(_ENOUGH_CELLS, _cells_of_column(columns[-1])):
            break
        columns = [column for column in columns if column[0] != heading]
    widths = [_cells_of_column(column) for column in columns[:-1]]
    room = max(_room(columns, line_cells), _LEAST_CELLS)
    return [_line(cells, widths, room) for cells in zip(*columns, strict=True)]


def _room(columns: Sequence[Sequence[str]], line_cells: int) -> int:
    """What is left for the last column."""
    return line_cells - sum(_cells_of_column(column) + len(GAP) for column in columns[:-1])


def _cells_of_column(column: Sequence[str]) -> int:
    return max(map(cells_of, column))


def _line(cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    before = [padded(cell, width) for cell, width in zip(cells, widths, strict=False)]
    return GAP.join((*before, cut(cells[-1], room))).rstrip()
