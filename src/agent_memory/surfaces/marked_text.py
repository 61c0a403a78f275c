"""A passage set in lines, with some of its characters marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.surfaces.cells import cells_of

_MARK, _PLAIN = "\x1b[1;33m", "\x1b[0m"
_WORD = re.compile(r"\S+\s*")

Range = tuple[int, int]
"""Half-open, of characters."""


def marked_lines(text: str, marks: Sequence[Range], width_cells: int, *, colour: bool) -> list[str]:
    """The text in lines of at most so many cells, broken between words where that is possible; with `colour` the marked
    ranges stand out."""
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
    from wcwidth import iter_graphemes

    """Words with the white space behind them; the graphemes of a word that is wider than a line."""
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
