"""Which entries say nearly the same, or hold one another.

All pairs of a store would be too many. Two sets of which one holds a share c of the other have in common one of the
|x| - ⌈c·|x|⌉ + 1 rarest words of the smaller set x, so only entries that share such a word are compared (prefix filtering:
Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", 2007). Of these words the `_MOST_PROBED` rarest that any other
entry has are looked up, and those entries compared that share most of them. So a pair can be missed, if nearly all of these
words are among the few that the smaller entry has for itself, or if more than `_MOST_COMPARED` entries share as many of them,
as in a store of forms filled in.

What a note is alike to stands for as long as it looks up the same words, and no note comes or goes that shares as many of them as
a partner must. Which words it looks up depends on how many notes have each of its rarest words. So of a store that was compared
before, those notes are compared again that are new, that look up other words, or that share looked up words with one that came or
went. The result is the same as of all comparisons.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from heapq import nsmallest
from itertools import compress, count, islice
from typing import Protocol

from agent_memory.domain.analysis.likened import Likened, LikenedPair
from agent_memory.domain.analysis.placed import Placed
from agent_memory.domain.analysis.precedence import same_reach
from agent_memory.domain.analysis.ragged import Ragged
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.vocabulary import Kind
from agent_memory.values import frozen

NEAR = 0.75
"""Share of the words of both that near duplicates have in common (Jaccard)."""
NEAR_SHORT = 0.85
"""The same where both together have fewer than `_SHORT_TERMS` words: one word more or less may be another thing."""
CONTAINED = 0.8
"""Share of the words of the smaller entry that the larger one holds, for an overlap."""
CONTAINED_FAR = 0.9
"""The same where the larger entry is `_FAR` times as large: it holds many words by chance."""

_SHORT_TERMS = 12
_FEWEST_TERMS = 4
_FEWEST_CONTAINED = 8
_FAR = 8
_MOST_PROBED = 6
_MANY_PROBED = 5
"""Of so many probed words a partner has two: four in five of its words are the same."""
_MOST_COMPARED = 64
_MOST_ALIKE = 8
_MOST_LOOKED_AT = 1_000
_NOTHING = array("I")


class Notes(Protocol):
    """All notes of a store, by their slots (see `gathered`)."""

    @property
    def terms(self) -> Ragged:
        """The content words of title and body, and the code that they name; ascending."""
        ...

    @property
    def about(self) -> Ragged:
        """The content words of title, description and tags; ascending."""
        ...


def likened(before: Likened, was: Notes, now: Notes, placed: Placed, renewed: Set[int], words: Vocabulary) -> Likened:
    """Every pair of notes that is nearly the same or of which one holds the other, by the content words of title and body; of
    many that are all alike, each with some of the others. Compared are those that are `placed`. What is known from
    `before` makes no other difference than in time; `was` are the notes of then, and in `renewed` slots are others now.

    Not taken for near duplicates are two notes each of which names a number or code that the other lacks: they say the
    like of different things.
    """
    slots = placed.places.keys()
    gone = before.slots - slots | before.slots & renewed
    new = slots - before.slots | slots & renewed
    if not gone and not new:
        return before
    rows = _changed_holders(before.holders, was, now, gone, new)
    holders = before.holders.replaced(rows)
    fewest = {term: min(before.holders.size(term), len(row)) for term, row in rows.items()}
    unsettled = new | _unsettled(before, holders, fewest, gone)
    looked_up = _looked_up(sorted(unsettled), now.terms, holders, words)
    again = new.union(slot for slot in unsettled - new if looked_up[slot].terms != before.probed.row(slot))
    again |= _concerned(before, was, now, holders, gone, new)
    probed = before.probed.replaced(
        dict.fromkeys(gone, _NOTHING) | {slot: each.terms for slot, each in looked_up.items()}
    )
    limits = before.limits + array("I", [0] * (len(probed) - len(before.limits)))
    for slot, each in looked_up.items():
        limits[slot] = each.limit
    left = (pair for pair in before.pairs if pair.one not in gone and pair.one not in again)
    found = _Comparison(now, placed, holders, probed, words).pairs(again)
    return Likened(frozenset(slots), holders, probed, limits, (*left, *found))


# -- what a change concerns -------------------------------------------------------------------------------------------


def _changed_holders(holders: Ragged, was: Notes, now: Notes, gone: Set[int], new: Set[int]) -> dict[int, array[int]]:
    """Of each word that other notes have now, those that have it."""
    added: dict[int, array[int]] = defaultdict(lambda: array("I"))
    removed: dict[int, list[int]] = defaultdict(list)
    for slot in sorted(new):
        terms: Iterable[int] = now.terms.row(slot)
        if slot in gone:
            terms = set(terms).difference(was.terms.row(slot))
        for term in terms:
            added[term].append(slot)
    for slot in gone:
        terms = was.terms.row(slot)
        if slot in new:
            terms = set(terms).difference(now.terms.row(slot))
        for term in terms:
            removed[term].append(slot)
    rows = dict(added)
    for term in {*added, *removed} if len(holders) else ():
        row = holders.row(term)[:]
        for slot in removed.get(term, ()):
            del row[bisect_left(row, slot)]
        for slot in added.get(term, ()):
            insort(row, slot)
        rows[term] = row
    return rows


def _unsettled(before: Likened, holders: Ragged, fewest: Mapping[int, int], gone: Set[int]) -> set[int]:
    """The notes of before that may look up other words, now that more or fewer notes have some of theirs. `fewest` are those
    that had such a word, or have it now."""
    stay = before.slots - gone
    found: set[int] = set()
    for term, number in fewest.items() if stay else ():
        found.update(slot for slot in holders.row(term) if slot in stay and before.limits[slot] >= number)
    return found


def _concerned(before: Likened, was: Notes, now: Notes, holders: Ragged, gone: Set[int], new: Set[int]) -> set[int]:
    """The notes of before that may have been compared with one that went, or are to be with one that came: those that share
    as many looked up words with them all as `_candidates` asks for. Or one of very many notes, of which only some are looked
    at: then another one may be."""
    stay = before.slots - gone
    if not stay:
        return set()
    touched = {term for slot in gone for term in was.terms.row(slot)}
    touched.update(term for slot in new for term in now.terms.row(slot))
    probed = before.probed.whole()
    shared: dict[int, list[int]] = defaultdict(list)
    for place in compress(count(), map(touched.__contains__, probed.values)):
        shared[probed.row_at(place)].append(probed.values[place])
    return {
        slot
        for slot, terms in shared.items()
        if slot in stay
        and (
            len(terms) > 1
            or probed.size(slot) < _MANY_PROBED
            or max(before.holders.size(terms[0]), holders.size(terms[0])) > _MOST_LOOKED_AT
        )
    }


# -- what is looked up ------------------------------------------------------------------------------------------------


@frozen
class _LookedUp:
    terms: array[int]
    """The words of which a partner has one, the rarest first."""
    limit: int
    """See `Likened.limits`."""


def _looked_up(slots: Sequence[int], terms: Ragged, holders: Ragged, words: Vocabulary) -> Mapping[int, _LookedUp]:
    """What each of the notes in these slots looks up. Words that are as rare are looked up by the alphabet."""
    needed = {term for slot in slots for term in terms.row(slot)}
    rarest_first = sorted(needed, key=lambda term: (holders.size(term), words.word(term)))
    rank_of = {term: rank for rank, term in enumerate(rarest_first)}.__getitem__
    first_shared = next((rank for rank, term in enumerate(rarest_first) if holders.size(term) > 1), len(rarest_first))
    found: dict[int, _LookedUp] = {}
    for slot in slots:
        size = terms.size(slot)
        if size < _FEWEST_TERMS:
            found[slot] = _LookedUp(_NOTHING, 0)
            continue
        prefix = sorted(map(rank_of, terms.row(slot)))[: size - math.ceil(CONTAINED * size) + 1]
        start = bisect_left(prefix, first_shared)
        counting = prefix[: start + _MOST_PROBED]
        probed = array("I", [rarest_first[rank] for rank in counting[start:]])
        found[slot] = _LookedUp(probed, holders.size(rarest_first[counting[-1]]))
    return found


# -- comparing --------------------------------------------------------------------------------------------------------


class _Comparison:
    """Of some notes with all that share what they look up. Those are known by their places in order of length and id."""

    def __init__(self, notes: Notes, placed: Placed, holders: Ragged, probed: Ragged, words: Vocabulary) -> None:
        self._notes, self._placed, self._holders, self._probed, self._words = notes, placed, holders, probed, words
        self._ordered: list[int] = []
        self._place: dict[int, int] = {}
        self._holding: dict[int, array[int]] = {}

    def pairs(self, slots: Collection[int]) -> Iterator[LikenedPair]:
        """What the notes in these slots are alike to, of those after them."""
        terms = self._notes.terms
        there = {*slots}
        if len(there) < len(self._placed.places):
            for term in {term for slot in slots for term in self._probed.row(slot)}:
                there.update(self._holders.row(term))
        self._ordered = sorted(
            (slot for slot in there if terms.size(slot) >= _FEWEST_TERMS),
            key=lambda slot: (terms.size(slot), self._placed.id(slot)),
        )
        self._place = {slot: place for place, slot in enumerate(self._ordered)}
        for slot in slots:
            if slot in self._place:
                yield from self._alike(slot)

    def _alike(self, slot: int) -> Iterator[LikenedPair]:
        candidates = self._candidates(self._place[slot], self._placed.scope(slot), self._probed.row(slot))
        if candidates:
            mine = set(self._notes.terms.row(slot))
            found = (self._compared(slot, mine, self._ordered[place]) for place in candidates)
            yield from islice((pair for pair in found if pair is not None), _MOST_ALIKE)

    def _places(self, term: int) -> array[int]:
        """Where those are that have this word, ascending."""
        found = self._holding.get(term)
        if found is None:
            places = (self._place[slot] for slot in self._holders.row(term) if slot in self._place)
            found = self._holding[term] = array("I", sorted(places))
        return found

    def _candidates(self, place: int, scope: str, probed: Sequence[int]) -> list[int]:
        """Notes after this one that share probed words, those that share most of them first, then the nearest in length."""
        sharing: list[set[int]] = []
        some: set[int] = set()
        several: set[int] = set()
        for term in probed:
            places = self._places(term)
            start = bisect_right(places, place)
            these = set(places[start : start + _MOST_LOOKED_AT])
            several |= some & these
            some |= these
            sharing.append(these)
        likely = (
            (-sum([at in these for these in sharing]), at)
            for at in (several if len(probed) >= _MANY_PROBED else some)
            if same_reach(scope, self._placed.scope(self._ordered[at]))
        )
        return [at for _, at in nsmallest(_MOST_COMPARED, likely)]

    def _compared(self, one: int, mine: set[int], other: int) -> LikenedPair | None:
        theirs = self._notes.terms.row(other)
        common = len(mine.intersection(theirs))
        containment, together = common / len(mine), len(mine) + len(theirs) - common
        if containment < CONTAINED:
            return None
        jaccard = common / together
        if jaccard >= (NEAR if together >= _SHORT_TERMS else NEAR_SHORT):
            names = self._differ_in_names(mine, set(theirs))
            return None if names else LikenedPair(one, other, jaccard, containment, True)
        if self._overlaps(one, other, len(mine), len(theirs), containment):
            return LikenedPair(one, other, jaccard, containment, False)
        return None

    def _differ_in_names(self, mine: set[int], theirs: set[int]) -> bool:
        return any(map(self._names, mine - theirs)) and any(map(self._names, theirs - mine))

    def _names(self, term: int) -> bool:
        word = self._words.word(term)
        return word.startswith("`") or any(map(str.isdigit, word))

    def _overlaps(self, one: int, other: int, size: int, other_size: int, containment: float) -> bool:
        if size < _FEWEST_CONTAINED or not self._same_subject(one, other):
            return False
        kinds = self._placed.kind(one), self._placed.kind(other)
        if Kind.HANDOFF in kinds and kinds[0] is not kinds[1]:
            return False  # it says again what the notes of its session say, and is gone in days
        return other_size < _FAR * size or containment >= CONTAINED_FAR

    def _same_subject(self, one: int, other: int) -> bool:
        """Whether the titles, descriptions and tags share two words at least."""
        about = self._notes.about
        return len(set(about.row(one)).intersection(about.row(other))) >= 2
