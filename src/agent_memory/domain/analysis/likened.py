"""What was found alike in a store, so that only what changed need be compared with the others the next time (see `likeness`)."""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.values import field, frozen

MARK_BYTES = 16
MOST_PROBED = 6
"""Words of one entry that are looked up."""


@frozen
class LikenedPair:
    """Two entries, by their places in `Likened.ids`, that are alike (`likeness.Alike`)."""

    one: int
    other: int
    jaccard: float
    containment: float
    is_near: bool


@frozen
class Likened:
    """Of the entries of one store, in columns: fifty thousand of them are few megabytes.

    Words stand as themselves, since numbers of a vocabulary mean nothing once another has been begun.
    """

    words: Sequence[str] = ()
    """All that these entries have, each once."""
    spread: Sequence[int] = ()
    """In how many of them each word is."""
    ids: Sequence[str] = ()
    marks: bytes = b""
    """`MARK_BYTES` for each entry (`mark_of`)."""
    probed: Sequence[int] = ()
    """`MOST_PROBED` for each entry: the places of the words that were looked up; `len(words)` where there were fewer."""
    pairs: tuple[LikenedPair, ...] = ()
    """Those of one smaller entry in the order in which they were found."""


NOTHING = Likened()
"""Of no entries."""


@frozen
class Recalled:
    """What is still known of entries that are as they were, in numbers of a vocabulary."""

    places: Mapping[str, int]
    """Those of the entries in `likened`, by id."""
    likened: Likened
    numbers: Sequence[int]
    """Of `likened.probed`; of a word that no entry has any more, and of no word, -1."""
    pairs: Mapping[int, Sequence[LikenedPair]]
    """By the place of the smaller entry."""

    def probed(self, id: str) -> tuple[int, ...]:
        """The words of an entry that were looked up."""
        start = self.places[id] * MOST_PROBED
        return tuple([number for number in self.numbers[start : start + MOST_PROBED] if number >= 0])

    def alike(self, id: str) -> Sequence[LikenedPair]:
        """What the entry was alike to."""
        return self.pairs.get(self.places[id], ())


def mark_of(entry: Features) -> bytes:
    """What is the same where an entry is compared with the same result: the file, and what the place of it may say."""
    text = f"{entry.content_hash} {entry.kind} {entry.scope}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=MARK_BYTES).digest()


def recalled(likened: Likened, entries: Sequence[Features], numbers: Mapping[str, int]) -> Recalled:
    """What is known of those of the entries that are as they were. `numbers` are of all words that the entries have."""
    there = {id: place for place, id in enumerate(likened.ids)}
    places: dict[str, int] = {}
    for each in entries:
        place = there.get(each.id)
        if place is not None and likened.marks[place * MARK_BYTES : (place + 1) * MARK_BYTES] == mark_of(each):
            places[each.id] = place
    number_at = [numbers.get(word, -1) for word in likened.words]
    number_at.append(-1)
    pairs: dict[int, list[LikenedPair]] = defaultdict(list)
    for pair in likened.pairs:
        pairs[pair.one].append(pair)
    return Recalled(places, likened, [number_at[place] for place in likened.probed], pairs)


def changed_words(known: Recalled, spread: Mapping[int, int], words: Vocabulary) -> frozenset[int]:
    """The words that are in more or fewer entries than they were."""
    before = dict(zip(known.likened.words, known.likened.spread, strict=True))
    return frozenset(number for number, count in spread.items() if before.get(words.word(number)) != count)


@frozen
class Likening:
    """One comparison, as it is gone through: of each entry the words that are looked up, and what it is alike to."""

    probed: dict[str, tuple[int, ...]] = field(factory=dict[str, tuple[int, ...]])
    """By id; an entry that is compared with none has no words here."""
    pairs: list[tuple[tuple[str, str], tuple[float, float, bool]]] = field(factory=list[Any])
    """By ids, with what `LikenedPair` tells of them."""

    def result(
        self, entries: Sequence[Features], spread: Mapping[int, int], rarest_first: Sequence[int], words: Vocabulary
    ) -> Likened:
        """What is to be known the next time."""
        place_of = {number: place for place, number in enumerate(rarest_first)}
        at = {each.id: place for place, each in enumerate(entries)}
        probed = array("I")
        for each in entries:
            these = [place_of[number] for number in self.probed.get(each.id, ())]
            probed.extend(these + [len(rarest_first)] * (MOST_PROBED - len(these)))
        return Likened(
            [words.word(number) for number in rarest_first],
            array("I", [spread[number] for number in rarest_first]),
            [each.id for each in entries],
            b"".join(map(mark_of, entries)),
            probed,
            tuple([LikenedPair(at[one], at[other], *shares) for (one, other), shares in self.pairs]),
        )
