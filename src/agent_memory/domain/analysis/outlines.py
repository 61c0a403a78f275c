"""Outlines of all notes of a store, in columns: of 50,000 hardly anybody wants to know each, and each is put together when it is
asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count

from agent_memory.domain.analysis.outline import Outline, Profile
from agent_memory.values import field, frozen


@frozen
class OutlineColumns:
    """What there is to be known of the note in each slot."""

    body_chars: Sequence[int] = field(factory=list[int])
    body_lines: Sequence[int] = field(factory=list[int])
    others: Mapping[int, tuple[tuple[str, ...], int, int]] = field(factory=dict[int, tuple[tuple[str, ...], int, int]])
    """Of those that have any of them: links, lines and characters of fenced code."""

    def __len__(self) -> int:
        return len(self.body_chars)

    def __getitem__(self, slot: int) -> Outline:
        links, code_lines, code_chars = self.others.get(slot, ((), 0, 0))
        return Outline(self.profile(slot), links, code_lines, code_chars)

    def profile(self, slot: int) -> Profile:
        """That of one note."""
        return Profile(self.body_chars[slot], self.body_lines[slot])

    def changed(self, gone: Collection[int], new: Mapping[int, Outline]) -> OutlineColumns:
        """Without what is in the slots that go, and with these."""
        chars, lines = list(self.body_chars), list(self.body_lines)
        more = max(new, default=-1) + 1 - len(chars)
        chars += [0] * more
        lines += [0] * more
        others = {slot: each for slot, each in self.others.items() if slot not in gone and slot not in new}
        for slot in gone:
            chars[slot], lines[slot] = 0, 0
        for slot, each in new.items():
            chars[slot], lines[slot] = each.profile.body_chars, each.profile.body_lines
            if each.links or each.code_lines or each.code_chars:
                others[slot] = (each.links, each.code_lines, each.code_chars)
        return OutlineColumns(chars, lines, others)

    def of_slots(self, slots: Collection[int]) -> OutlineColumns:
        """Those in these slots, in their order."""
        others = ((place, self.others.get(slot)) for place, slot in enumerate(slots)) if self.others else ()
        return OutlineColumns(
            [self.body_chars[slot] for slot in slots],
            [self.body_lines[slot] for slot in slots],
            {place: each for place, each in others if each is not None},
        )

    def larger_than(self, chars: int, lines: int) -> Iterator[int]:
        """The slots of notes with more characters, or with more lines."""
        return compress(
            count(), map(bool.__or__, map(chars.__lt__, self.body_chars), map(lines.__lt__, self.body_lines))
        )


class Outlines(Mapping[str, Outline]):
    """By id."""

    __slots__ = ("columns", "slots")

    def __init__(self, slots: Mapping[str, int], columns: OutlineColumns) -> None:
        self.slots, self.columns = slots, columns

    def __getitem__(self, id: str) -> Outline:
        return self.columns[self.slots[id]]

    def __contains__(self, id: object) -> bool:
        return id in self.slots

    def __iter__(self) -> Iterator[str]:
        return iter(self.slots)

    def __len__(self) -> int:
        return len(self.slots)

    def __repr__(self) -> str:
        return repr(dict(self))

    def only(self, ids: Collection[str]) -> Outlines:
        """Those of these ids that have one."""
        return Outlines({id: slot for id, slot in self.slots.items() if id in ids}, self.columns)

    def joined(self, others: Mapping[str, Outline]) -> Outlines:
        """With these too, in place of those that are there."""
        start = len(self.columns)
        added = dict(zip(others, range(start, start + len(others)), strict=True))
        columns = (
            self.columns.changed((), dict(zip(added.values(), others.values(), strict=True))) if added else self.columns
        )
        return Outlines({**self.slots, **added}, columns)

    def links(self) -> Mapping[str, tuple[str, ...]]:
        """What the notes link to that link to anything."""
        linking = {slot: links for slot, (links, *_) in self.columns.others.items() if links}
        return {id: linking[slot] for id, slot in self.slots.items() if slot in linking} if linking else {}

    def larger_than(self, chars: int, lines: int) -> Iterator[str]:
        """The notes with more characters, or with more lines."""
        large = set(self.columns.larger_than(chars, lines))
        return compress(self.slots, map(large.__contains__, self.slots.values())) if large else iter(())


NO_OUTLINES = Outlines({}, OutlineColumns())


class Profiles(Mapping[str, Profile]):
    """The profiles of outlines, by id."""

    __slots__ = ("_outlines",)

    def __init__(self, outlines: Outlines) -> None:
        self._outlines = outlines

    def __getitem__(self, id: str) -> Profile:
        return self._outlines.columns.profile(self._outlines.slots[id])

    def __contains__(self, id: object) -> bool:
        return id in self._outlines.slots

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._outlines.slots))

    def __len__(self) -> int:
        return len(self._outlines.slots)

    def __repr__(self) -> str:
        return repr(dict(self))

    def without(self, ids: Collection[str]) -> Profiles:
        """The others."""
        return Profiles(self._outlines.only(self._outlines.slots.keys() - set(ids)))

    def body_chars(self, ids: Iterable[str]) -> list[int]:
        """The characters of the bodies of these; 0 of one without a profile."""
        chars = self._outlines.columns.body_chars
        return [0 if slot is None else chars[slot] for slot in map(self._outlines.slots.get, ids)]


NO_PROFILES = Profiles(NO_OUTLINES)
