"""Merges two versions of one thing that were changed on two machines: values, lists, lines, and a note's frontmatter.

`base` is the common ancestor; without one, whatever differs counts as changed on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeVar

from attrs import evolve, fields

from agent_memory.note.note import MemoryEntry, Meta, Source, furthest, highest, least_trusted, strictest
from agent_memory.text.instants import latest, latest_end

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

_MOST_LINES = 20_000


def chosen(base: T | None, ours: T, theirs: T, both: Callable[[T, T], T], *, has_base: bool) -> T:
    """Returns the value of the side that changed it; if both did, what `both` makes of the two."""
    if ours == theirs:
        return ours
    if has_base and ours == base:
        return theirs
    if has_base and theirs == base:
        return ours
    return both(ours, theirs)


def united(base: Collection[H], first: Sequence[H], second: Sequence[H]) -> tuple[H, ...]:
    """Returns everything that either side holds, except what was in the base and is gone from one of them; each once,
    in the order of `first`, then what `second` adds. If only one side changed anything, its order is kept."""
    for unchanged, changed in ((first, second), (second, first)):
        if tuple(unchanged) == tuple(base):
            return tuple(dict.fromkeys(changed))
    there = dict.fromkeys((*first, *second))
    return tuple(each for each in there if each not in base or (each in first and each in second))


# -- lines (diff3) ----------------------------------------------------------------------------------------------------


def merged_text(base: str | None, one: str, other: str, labels: tuple[str, str]) -> str:
    """Returns both texts as one: no line that either side added is ever left out. Without a base, the lines that they
    share in the same order serve as one, so that a text that only says more than the other wins. If both had changed
    the same lines, their two versions stand between git's markers, with these `labels`."""
    if one == other or base == other:
        return one
    if base == one:
        return other
    ours, theirs = one.split("\n"), other.split("\n")
    if base is None:
        places = _places(ours, theirs)
        common = [line for at, line in enumerate(ours) if at in places]
    else:
        common = base.split("\n")
    lines: list[str] = []
    for before, mine, other_lines in _stretches(common, ours, theirs):
        if mine == other_lines or other_lines == before:
            lines += mine
        elif mine == before:
            lines += other_lines
        else:
            lines += [f"<<<<<<< {labels[0]}", *mine, "=======", *other_lines, f">>>>>>> {labels[1]}"]
    return "\n".join(lines)


def _stretches(
    base: Sequence[str], one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Yields the three texts cut at every line that all of them share: each such line, and what is between."""
    in_one, in_other = _places(base, one), _places(base, other)
    start = (0, 0, 0)
    for at, line in enumerate(base):
        if at in in_one and at in in_other:
            yield base[start[0] : at], one[start[1] : in_one[at]], other[start[2] : in_other[at]]
            yield [line], [line], [line]
            start = (at + 1, in_one[at] + 1, in_other[at] + 1)
    yield base[start[0] :], one[start[1] :], other[start[2] :]


def _places(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Returns the positions of shared lines in the other text, by their positions in the one."""
    if max(len(before), len(after)) > _MOST_LINES:
        return {}
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {block.a + each: block.b + each for block in blocks for each in range(block.size)}


def newer_first(one: MemoryEntry, other: MemoryEntry) -> tuple[MemoryEntry, MemoryEntry]:
    """Returns the two versions of a note: first the one with the later `updatedAt`, among equals the one with the
    greater content. Which one is ours makes no difference, so that both machines come to the same result."""
    newer, older = sorted((one, other), key=lambda each: (each.meta.updated_at_ms, repr(each)), reverse=True)
    return newer, older


def merged_meta(base: MemoryEntry | None, newer: MemoryEntry, older: MemoryEntry) -> Meta:
    """Returns the frontmatter of both. The id is the newer one's, the same on both machines."""

    def merged(name: str) -> Any:
        before = None if base is None else getattr(base.meta, name)
        one, other = getattr(newer.meta, name), getattr(older.meta, name)
        if name == "sources":
            return _united_sources(before or (), one, other)
        if name in _LISTS:
            return united(before or (), one, other)
        if name in _RAISED:
            return _RAISED[name](one, other)
        both = _IF_BOTH_CHANGED.get(name, lambda newest, _: newest)
        return chosen(before, one, other, both, has_base=base is not None)

    meta = Meta(**{each.name: merged(each.name) for each in fields(Meta)})
    # A person vouches for what they saw (P19): if the side without that promotion changed the text, it is withdrawn unless
    # the note is the person's own, as when a program edits.
    pairs = ((newer, older), (older, newer))
    is_changed = any(side.meta.promoted_by is None and side.texts != (base or other).texts for side, other in pairs)
    # Nor was a text approved that came with the other side.
    is_new = any(side.meta.withheld and side.texts != (base or other).texts for side, other in pairs)
    meta = evolve(meta, withheld=meta.withheld or is_new)
    is_unearned = meta.promoted_by is not None and is_changed and meta.needs_vouching
    return evolve(meta, promoted_by=None, pinned=False) if is_unearned else meta


def _united_sources(
    base: tuple[Source, ...], newer: tuple[Source, ...], older: tuple[Source, ...]
) -> tuple[Source, ...]:
    """Returns one source for each session and agent, with united turns."""
    turns_before, turns_newer, turns_older = (
        {evolve(each, turns=()): each.turns for each in sources} for sources in (base, newer, older)
    )
    sessions = united(tuple(turns_before), tuple(turns_newer), tuple(turns_older))

    def turns(session: Source) -> tuple[int, ...]:
        sides = [known[session] for known in (turns_newer, turns_older) if session in known]
        return tuple(sorted(united(turns_before.get(session, ()), sides[0], sides[-1])))

    return tuple(evolve(session, turns=turns(session)) for session in sessions)


_LISTS = ("tags", "aliases", "supersedes")
_RAISED: Mapping[str, Callable[[Any, Any], Any]] = {
    "status": lambda one, other: furthest((one, other)),
    "used": max,
    "last_used_at_ms": latest,
    "updated_at_ms": max,
}
"""Fields that never go back, whichever side changed them."""
_IF_BOTH_CHANGED: Mapping[str, Callable[[Any, Any], Any]] = {
    "origin": lambda one, other: least_trusted((one, other)),
    "importance": lambda one, other: highest((one, other)),
    "confidence": lambda one, other: min((each for each in (one, other) if each is not None), default=None),
    "sensitivity": lambda one, other: strictest((one, other)),
    "pinned": lambda one, other: one or other,
    "promoted_by": lambda one, other: one or other,
    "created_at_ms": min,
    "expires_at_ms": latest_end,
    "valid_from_ms": latest,
    "valid_until_ms": latest_end,
}
"""For any other field that both sides changed, the newer one's value stands."""
