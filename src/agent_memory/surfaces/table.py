"""A plain table for a terminal: columns as wide as they need to be, the last one cut to what is left of the line."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from wcwidth import iter_graphemes, wcswidth

GAP = "  "
_LEAST_LAST_CELLS = 20


def render_table(headings: Sequence[str], rows: Sequence[Sequence[str]], width_cells: int | None = None) -> str:
    """The table, its lines without trailing white space; wide characters count as the two cells that they take."""
    return "\n".join(table_lines(headings, rows, width_cells))


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], width_cells: int | None = None) -> list[str]:
    """The same as a list: the headings, then one text a row."""
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(_cells(cell) for cell in column) for column in columns[:-1]]
    line_cells = width_cells if width_cells is not None else shutil.get_terminal_size().columns
    room = max(line_cells - sum(widths) - len(GAP) * len(widths), _LEAST_LAST_CELLS)
    return [_line(cells, widths, room) for cells in (headings, *rows)]


def _line(cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    padded = [cell + " " * (width - _cells(cell)) for cell, width in zip(cells, widths, strict=False)]
    return GAP.join((*padded, _cut(cells[-1], room))).rstrip()


def _cut(text: str, room: int) -> str:
    if _cells(text) <= room:
        return text
    kept, used = "", 0
    for grapheme in iter_graphemes(text):
        used += _cells(grapheme)
        if used > room - 1:
            break
        kept += grapheme
    return f"{kept}…"


def _cells(text: str) -> int:
    return max(wcswidth(text), 0)
