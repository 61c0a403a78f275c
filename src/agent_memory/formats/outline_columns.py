"""Outlines as columns of plain values, and back: of most notes they hold no link and no code."""

from __future__ import annotations

from collections.abc import Collection

from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.findings import Profile

Columns = tuple[list[int], list[int], list[bool], dict[int, tuple[tuple[str, ...], int, int]]]
"""Characters, lines, whether it is a directive; of those that have any, by place, links, lines and characters of code."""


def packed_outlines(outlines: Collection[Outline]) -> Columns:
    """In their order."""
    return (
        [each.profile.body_chars for each in outlines],
        [each.profile.body_lines for each in outlines],
        [each.profile.is_directive for each in outlines],
        {
            place: (each.links, each.code_lines, each.code_chars)
            for place, each in enumerate(outlines)
            if each.links or each.code_lines or each.code_chars
        },
    )


def unpacked_outlines(packed: Columns) -> list[Outline]:
    """What was packed."""
    chars, lines, directive, more = packed
    outlines = list(map(Outline, map(Profile, chars, lines, directive)))
    for place, (links, code_lines, code_chars) in more.items():
        outlines[place] = Outline(outlines[place].profile, links, code_lines, code_chars)
    return outlines
