"""What was noticed in all notes of a store, in columns: of the few notes that are looked at, each is put together when asked for."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import TypeVar

from agent_memory.domain.analysis.denials import Denial
from agent_memory.domain.analysis.likened import Likened
from agent_memory.domain.analysis.noticed import Noticed, PackedClaim
from agent_memory.domain.analysis.outlines import OutlineColumns
from agent_memory.domain.analysis.ragged import Ragged
from agent_memory.domain.analysis.vocabulary import UNUSED, Vocabulary
from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import column_of
from agent_memory.values import evolve, field, frozen

T = TypeVar("T")

FREE = b""
"""Stands for the mark of a slot that no note has."""
_MARK_BYTES = 16


@frozen
class Gathered:
    """Each note has a slot, its place in all columns, for as long as its file stays as it is."""

    words: Sequence[str] = field(factory=list[str])
    """Each at the place that its number says; `UNUSED` where no note names it."""
    named: array[int] = field(factory=lambda: array("I"))
    """Of each word in how many places it is named."""
    marks: Sequence[bytes] = field(factory=list[bytes])
    """`mark_of` each note, or `FREE`."""
    digests: Sequence[bytes] = field(factory=list[bytes])
    terms: Ragged = field(factory=Ragged.empty)
    title: Ragged = field(factory=Ragged.empty)
    about: Ragged = field(factory=Ragged.empty)
    stated: Ragged = field(factory=lambda: Ragged.empty("Q"))
    claims: Mapping[int, tuple[PackedClaim, ...]] = field(factory=dict[int, tuple[PackedClaim, ...]])
    """Of the notes that claim something."""
    denials: Mapping[int, tuple[Denial, ...]] = field(factory=dict[int, tuple[Denial, ...]])
    """Of those that deny something."""
    outlines: OutlineColumns = OutlineColumns()
    likened: Likened = Likened()

    def recognised(self, live: Sequence[Listed]) -> dict[str, int]:
        """The slots of those of the notes that are as they were, by id; of two with one id, of the first."""
        slots = {mark: slot for slot, mark in enumerate(self.marks) if mark != FREE}
        if not slots:
            return {}
        columns = [column_of(live, field) for field in ("meta.id", "path", "content_hash")]
        marks = dict(zip(reversed(columns[0]), reversed([*map(_mark, *columns)]), strict=True))
        return {id: slots[mark] for id, mark in marks.items() if mark in slots}

    def noticed(self, slot: int) -> Noticed:
        """What was noticed in one note."""
        return Noticed(
            self.digests[slot],
            self.terms.row(slot),
            self.title.row(slot),
            self.about.row(slot),
            self.claims.get(slot, ()),
            self.stated.row(slot),
            self.denials.get(slot, ()),
            self.outlines[slot],
        )

    def free_slots(self, number: int, gone: Collection[int]) -> list[int]:
        """So many slots that are free, or are once these have gone."""
        unused = (slot for slot, mark in enumerate(self.marks) if mark == FREE or slot in gone)
        return list(islice(chain(unused, count(len(self.marks))), number))

    def changed(self, gone: Collection[int], new: Mapping[int, tuple[Listed, Noticed]], words: Vocabulary) -> Gathered:
        """Without the notes in the slots that go, and with these in free ones; what is likened is left as it was. The words of
        the new ones, and of those that stay, have their numbers in `words`."""
        if not gone and not new:
            return self
        noticed = {slot: each for slot, (_, each) in new.items()}
        numbered = words.words()
        named = self._named(gone, noticed.values(), len(numbered))
        left = dict.fromkeys(gone, array("I"))
        end = max(len(self.marks), max(new, default=-1) + 1)
        return evolve(
            self,
            words=[word if used else UNUSED for word, used in zip(numbered, named, strict=True)],
            named=named,
            marks=_put(self.marks, FREE, end, gone, {slot: mark_of(listed) for slot, (listed, _) in new.items()}),
            digests=_put(self.digests, b"", end, gone, {slot: each.digest for slot, each in noticed.items()}),
            terms=self.terms.replaced(left | {slot: each.terms for slot, each in noticed.items()}),
            title=self.title.replaced(left | {slot: each.title for slot, each in noticed.items()}),
            about=self.about.replaced(left | {slot: each.about for slot, each in noticed.items()}),
            stated=self.stated.replaced(dict.fromkeys(gone, array("Q")) | {slot: each.stated for slot, each in noticed.items()}),
            claims=_without(self.claims, gone) | {slot: each.claims for slot, each in noticed.items() if each.claims},
            denials=_without(self.denials, gone) | {slot: each.denials for slot, each in noticed.items() if each.denials},
            outlines=self.outlines.changed(gone, {slot: each.outline for slot, each in noticed.items()}),
        )  # fmt: skip

    def _named(self, gone: Iterable[int], new: Iterable[Noticed], numbers: int) -> array[int]:
        named = self.named[:numbers]
        named.extend([0] * (numbers - len(named)))
        for number, times in Counter(chain.from_iterable(map(numbers_in, new))).items():
            named[number] += times
        for number in chain.from_iterable(numbers_in(self.noticed(slot)) for slot in gone):
            named[number] -= 1
        return named


def mark_of(listed: Listed) -> bytes:
    """What is the same for as long as the same is to be noticed: of the file's bytes, and of its path, which may be what the
    title is taken from."""
    return _mark(listed.meta.id, listed.path, listed.content_hash)


def _mark(id: str, path: str, content_hash: str) -> bytes:
    text = f"{id}\0{path}\0{content_hash}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_MARK_BYTES).digest()


def numbers_in(noticed: Noticed) -> Iterator[int]:
    """The numbers of the words in each place."""
    frames = [each.frame for some in (noticed.claims, noticed.denials) for each in some]
    return chain(noticed.terms, noticed.title, noticed.about, *frames)


def _put(column: Sequence[T], nothing: T, end: int, gone: Iterable[int], new: Mapping[int, T]) -> list[T]:
    whole = [*column, *[nothing] * (end - len(column))]
    for slot in gone:
        whole[slot] = nothing
    for slot, value in new.items():
        whole[slot] = value
    return whole


def _without(sparse: Mapping[int, T], gone: Collection[int]) -> dict[int, T]:
    return {slot: value for slot, value in sparse.items() if slot not in gone}
