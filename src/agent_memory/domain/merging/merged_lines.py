"""Two texts with a common ancestor, merged line by line (diff3).

Where only one side changed a stretch of lines its version is taken, where both made the same change that one; where they
differ, both stand in the result between the markers that git uses, and `conflicted` says so. No line that either side added
is ever left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from attrs import frozen

_MOST_LINES = 20_000
"""Of longer texts the middle, between what both begin and end with, is not compared line by line."""


@frozen
class MergedText:
    text: str
    conflicted: bool


@frozen
class _Stretch:
    """Lines of one side in the place of `start:end` of the base."""

    start: int
    end: int
    lines: tuple[str, ...]


def merged_text(base: str | None, one: str, other: str, labels: tuple[str, str]) -> MergedText:
    """Both texts as one. Without a base the lines that they share in the same order are taken for it, so that a text that
    only says more than the other wins. `labels` name the two in markers."""
    if one == other:
        return MergedText(one, conflicted=False)
    if base == one:
        return MergedText(other, conflicted=False)
    if base == other:
        return MergedText(one, conflicted=False)
    ours, theirs = one.split("\n"), other.split("\n")
    common = base.split("\n") if base is not None else _shared(ours, theirs)
    lines: list[str] = []
    conflicted = False
    for piece in _pieces(common, ours, theirs):
        if isinstance(piece, tuple):
            lines += piece
        else:
            conflicted = True
            lines += _marked(piece, labels)
    return MergedText("\n".join(lines), conflicted)


@frozen
class _Conflict:
    one: tuple[str, ...]
    other: tuple[str, ...]


def _marked(conflict: _Conflict, labels: tuple[str, str]) -> Iterator[str]:
    yield f"<<<<<<< {labels[0]}"
    yield from conflict.one
    yield "======="
    yield from conflict.other
    yield f">>>>>>> {labels[1]}"


def _pieces(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, ...] | _Conflict]:
    """The merged text in pieces: lines, or two versions of some."""
    changes = [list(_changes(base, one)), list(_changes(base, other))]
    at = 0
    while changes[0] or changes[1]:
        start = min(each[0].start for each in changes if each)
        yield tuple(base[at:start])
        end, taken = _overlapping(changes, start)
        sides = tuple(_side(base, start, end, each) for each in taken)
        yield _decided(tuple(base[start:end]), sides[0], sides[1])
        at = end
    yield tuple(base[at:])


def _overlapping(changes: list[list[_Stretch]], start: int) -> tuple[int, tuple[list[_Stretch], list[_Stretch]]]:
    """All changes of both sides that touch one another from `start` on, taken off their lists, and where they end."""
    taken: tuple[list[_Stretch], list[_Stretch]] = ([], [])
    end, grew = start, True
    while grew:
        grew = False
        for mine, side in zip(taken, changes, strict=True):
            while side and side[0].start <= end:
                stretch = side.pop(0)
                mine.append(stretch)
                end, grew = max(end, stretch.end), True
    return end, taken


def _side(base: Sequence[str], start: int, end: int, changes: Sequence[_Stretch]) -> tuple[str, ...]:
    """What one side has in the place of `start:end` of the base."""
    lines: list[str] = []
    at = start
    for change in changes:
        lines += [*base[at : change.start], *change.lines]
        at = change.end
    return (*lines, *base[at:end])


def _decided(before: tuple[str, ...], one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | _Conflict:
    if one == other or other == before:
        return one
    if one == before:
        return other
    return _Conflict(one, other)


def _changes(base: Sequence[str], side: Sequence[str]) -> Iterator[_Stretch]:
    for tag, start, end, side_start, side_end in _opcodes(base, side):
        if tag != "equal":
            yield _Stretch(start, end, tuple(side[side_start:side_end]))


def _shared(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The lines that both have in the same order."""
    return [line for tag, start, end, _, _ in _opcodes(one, other) if tag == "equal" for line in one[start:end]]


def _opcodes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """As difflib has them; what both begin and end with is found first, and very long texts are not compared beyond it."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    if head:
        yield "equal", 0, head, 0, head
    if max(map(len, middle)) > _MOST_LINES:
        yield "replace", head, head + len(middle[0]), head, head + len(middle[1])
    else:
        for tag, start, end, after_start, after_end in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
            yield tag, head + start, head + end, head + after_start, head + after_end
    if tail:
        yield "equal", len(before) - tail, len(before), len(after) - tail, len(after)
