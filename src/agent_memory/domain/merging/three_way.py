"""Three-way choices of values, lists and lines: what one side alone changed is taken from it; where both changed, a rule decides.

`base` is the common ancestor, None where there is none: then whatever differs counts as changed on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from attrs import frozen

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

_MOST_LINES = 20_000
"""Longer texts are not compared line by line."""


def chosen(base: T | None, ours: T, theirs: T, both: Callable[[T, T], T], *, has_base: bool) -> T:
    """The value of the side that changed it; what `both` makes of the two where both did."""
    if ours == theirs:
        return ours
    if has_base and ours == base:
        return theirs
    if has_base and theirs == base:
        return ours
    return both(ours, theirs)


def united(base: Collection[H], first: Sequence[H], second: Sequence[H]) -> tuple[H, ...]:
    """Everything that either side holds, but for what was in the base and is gone from one of them; each once, in the order
    of `first`, then what `second` adds. Where only one side changed anything, its order is kept."""
    for unchanged, changed in ((first, second), (second, first)):
        if tuple(unchanged) == tuple(base):
            return tuple(dict.fromkeys(changed))
    there = dict.fromkeys((*first, *second))
    return tuple(each for each in there if each not in base or (each in first and each in second))


# -- lines (diff3) ----------------------------------------------------------------------------------------------------


@frozen
class MergedText:
    """`conflicted`: both had changed the same lines, and their two versions stand between the markers that git uses."""

    text: str
    conflicted: bool


def merged_text(base: str | None, one: str, other: str, labels: tuple[str, str]) -> MergedText:
    """Both texts as one: no line that either side added is ever left out. Without a base the lines that they share in the
    same order are taken for it, so that a text that only says more than the other wins. `labels` name the two in markers."""
    if one == other or base == other:
        return MergedText(one, conflicted=False)
    if base == one:
        return MergedText(other, conflicted=False)
    ours, theirs = one.split("\n"), other.split("\n")
    if base is None:
        places = _places(ours, theirs)
        common = [line for at, line in enumerate(ours) if at in places]
    else:
        common = base.split("\n")
    lines: list[str] = []
    conflicted = False
    for before, mine, other_lines in _stretches(common, ours, theirs):
        if mine == other_lines or other_lines == before:
            lines += mine
        elif mine == before:
            lines += other_lines
        else:
            conflicted = True
            lines += [f"<<<<<<< {labels[0]}", *mine, "=======", *other_lines, f">>>>>>> {labels[1]}"]
    return MergedText("\n".join(lines), conflicted)


def _stretches(
    base: Sequence[str], one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """The three texts cut at every line that all of them share: each such line, and what is between."""
    in_one, in_other = _places(base, one), _places(base, other)
    start = (0, 0, 0)
    for at, line in enumerate(base):
        if at in in_one and at in in_other:
            yield base[start[0] : at], one[start[1] : in_one[at]], other[start[2] : in_other[at]]
            yield [line], [line], [line]
            start = (at + 1, in_one[at] + 1, in_other[at] + 1)
    yield base[start[0] :], one[start[1] :], other[start[2] :]


def _places(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Where the lines of the one that both share are in the other, by where they are in the one."""
    if max(len(before), len(after)) > _MOST_LINES:
        return {}
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {block.a + each: block.b + each for block in blocks for each in range(block.size)}
