"""What a search found, for people at a terminal and for programs at the other end of a pipe."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.instants import iso_of
from agent_memory.domain.searching.search_answer import ScorePart, SearchAnswer, SearchHit
from agent_memory.domain.searching.search_request import Mode
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.surfaces.marked_text import marked_lines
from agent_memory.surfaces.periods import age_of
from agent_memory.surfaces.terminal_columns import terminal_columns

_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_INDENT = "   "
_MOST_CELLS = 100
_LEAST_CELLS = 12
_TITLE_CHARS = 160
_DETAIL_CHARS = 120
_HOW = {Mode.HYBRID: "by words and by meaning", Mode.BM25: "by words", Mode.SEMANTIC: "by meaning"}


def plain_line(hit: SearchHit, *, explain: bool = False) -> str:
    """One line of fields separated by tabs; with `explain` one more, the parts of the score."""
    meta = hit.listed.meta
    cells = [
        meta.id,
        f"{hit.score:.2f}",
        _place(hit),
        meta.kind.value,
        meta.origin.value,
        iso_of(meta.updated_at_ms)[:10],
        one_line(meta.title, _TITLE_CHARS),
        one_line(hit.snippet.text, len(hit.snippet.text)),
        hit.superseded_by or "",
    ]
    if explain:
        cells.append("; ".join(_part(each) for each in hit.parts))
    return "\t".join(cells)


def shown_hit(
    number: int, hit: SearchHit, now_ms: int, *, colour: bool, explain: bool = False, width_cells: int | None = None
) -> list[str]:
    """The lines of one hit: its title, the facts, the passage with what was found in it, and a blank one."""
    meta = hit.listed.meta
    title = one_line(meta.title, _TITLE_CHARS)
    facts = [_place(hit), meta.kind.value, f"from {meta.origin.value}", age_of(meta.updated_at_ms, now_ms)]
    if meta.scope != GLOBAL_SCOPE:
        facts.append(one_line(meta.scope, _TITLE_CHARS))
    about = f"{meta.id} · {' · '.join(facts)} · {hit.score:.2f}"
    first = f"{number}. "
    room = _room(width_cells, len(first))
    lines = [
        f"{first if at == 0 else _INDENT}{_in(_BOLD, line, colour=colour)}"
        for at, line in enumerate(marked_lines(title, (), room, colour=False))
    ]
    lines += [f"{_INDENT}{_in(_DIM, line, colour=colour)}" for line in marked_lines(about, (), room, colour=False)]
    if hit.superseded_by is not None:
        lines.append(f"{_INDENT}superseded by {hit.superseded_by}")
    passage = marked_lines(hit.snippet.text, hit.snippet.marks, room, colour=colour)
    lines += [f"{_INDENT}{line}" for line in passage]
    if explain:
        lines += _explained(hit.parts)
    return [*lines, ""]


def lines_of(text: str, width_cells: int | None = None) -> list[str]:
    """A sentence in lines that fit."""
    return marked_lines(text, (), _room(width_cells, 0), colour=False)


def _room(width_cells: int | None, indent: int) -> int:
    line_cells = width_cells if width_cells is not None else terminal_columns()
    return max(min(line_cells, _MOST_CELLS) - indent, _LEAST_CELLS)


def _in(style: str, text: str, *, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour else text


def closing_line(answer: SearchAnswer) -> str:
    """How many notes are shown, and what answered."""
    count = len(answer.hits)
    of = f" of {answer.matched:,} that match" if answer.matched > count else ""
    return f"{count:,} note{'' if count == 1 else 's'}{of}, found {_HOW[answer.mode]} ({answer.mode.value})."


def _place(hit: SearchHit) -> str:
    return "archived" if hit.listed.archived else hit.tier.value


def _explained(parts: Iterable[ScorePart]) -> list[str]:
    return [f"{_INDENT}{each.value:+.3f}  {_named(each)}" for each in parts]


def _part(part: ScorePart) -> str:
    return f"{part.value:+.3f} {_named(part)}"


def _named(part: ScorePart) -> str:
    detail = one_line(part.detail, _DETAIL_CHARS)
    return f"{part.name}: {detail}" if detail else part.name
