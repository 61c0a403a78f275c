"""What comparing the entries of a store with each other finds. It depends on nothing but them, and is most of what is left of
an analysis once each has been looked at by itself."""

from __future__ import annotations

import hashlib
import marshal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import compress, count

from agent_memory.domain.analysis.ages import over_by
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.conflicts import denial_conflicts, pairs_of, value_conflicts
from agent_memory.domain.analysis.contradictions import contradictions
from agent_memory.domain.analysis.denials import denied
from agent_memory.domain.analysis.duplicates import duplicates, later_equals, likenesses
from agent_memory.domain.analysis.features import Features, features_of
from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.domain.analysis.likeness import likened
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.outlines import NO_OUTLINES, Outlines
from agent_memory.domain.analysis.placed import Placed
from agent_memory.domain.analysis.sizes import fragmented, is_short
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Finding
from agent_memory.domain.instants import has_passed
from agent_memory.domain.packed_entries import chosen, column_of
from agent_memory.domain.secret_entries import secret_ids
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.values import evolve, frozen

_WITHOUT_REFERENCES = 2
"""The version of marshal in which the same numbers are always the same bytes."""

NOTHING = Gathered()
"""What is known where nothing is."""


@frozen
class Compared:
    """What is found in several entries together, and of each alone what a later look at it needs."""

    findings: tuple[Finding, ...] = ()
    """In the order in which they were found."""
    outlines: Outlines = NO_OUTLINES


def compare(
    live: Sequence[Listed],
    slots: Mapping[str, int],
    noticed: Mapping[str, Noticed],
    words: Vocabulary,
    facts: AnalysisFacts,
    before: Gathered = NOTHING,
) -> tuple[Compared, Gathered]:
    """What is found, and what of it to know the next time, in which is nothing of a secret note. Of each entry there is what
    is `noticed` in it, by id, in numbers of `words`, which begin with those of `before`; else its slot in `before`, by id.
    What is known of before makes no other difference than in time. Of two notes with one id the first counts; of `facts`, only
    those count that `comparison_key` names."""
    ids = column_of(live, "meta.id")
    place_of = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    known = Placed(live, {slots[id]: place for id, place in place_of.items() if id not in noticed})
    is_new = [id in noticed and place_of[id] == place for place, id in enumerate(ids)]
    plain: list[tuple[int, Listed]] = []
    secret: list[tuple[int, Listed]] = []
    for place, listed in zip(compress(count(), is_new), chosen(live, is_new), strict=True):
        (secret if listed.meta.sensitivity is Sensitivity.SECRET else plain).append((place, listed))
    gone = set(compress(count(), before.marks)).difference(known.places)
    placed, kept = _with(before, gone, plain, noticed, known, words, facts)
    placed, whole = _with(kept, frozenset(), secret, noticed, placed, words, facts)
    outlines = Outlines(placed.slots(), whole.outlines)
    return Compared(tuple(_findings(_Entries(whole, placed), words, facts)), outlines), kept


def _with(
    before: Gathered,
    gone: Set[int],
    new: Sequence[tuple[int, Listed]],
    noticed: Mapping[str, Noticed],
    known: Placed,
    words: Vocabulary,
    facts: AnalysisFacts,
) -> tuple[Placed, Gathered]:
    """All with these notes, and what is known with them, compared for likeness."""
    taken = dict(zip(before.free_slots(len(new), gone), new, strict=True))
    placed = known.with_places(
        {**known.places, **{slot: place for slot, (place, _) in taken.items()}} if taken else known.places
    )
    now = before.changed(gone, {slot: (listed, noticed[listed.meta.id]) for slot, (_, listed) in taken.items()}, words)
    equal = later_equals(_Entries(now, placed).of_slots(_equals(now, placed, facts)))
    free = placed.without(facts.left_alone.union(each.id for each in equal))
    found = likened(before.likened, before, now, free, {*gone, *taken}, words)
    return placed, now if found is before.likened else evolve(now, likened=found)


def _equals(gathered: Gathered, placed: Placed, facts: AnalysisFacts) -> Iterator[int]:
    """The slots of notes whose bodies others have too, but for those that are left alone."""
    free = placed.without(facts.left_alone).places
    digests = list(map(gathered.digests.__getitem__, free))
    several = {digest for digest, times in Counter(digests).items() if times > 1}
    return compress(free, map(several.__contains__, digests))


class _Entries:
    """The features of those entries that are asked for, always the same ones."""

    def __init__(self, gathered: Gathered, placed: Placed) -> None:
        self.gathered, self.placed = gathered, placed
        self._made: dict[int, Features] = {}

    def in_slot(self, slot: int) -> Features:
        """Those of one note."""
        if slot not in self._made:
            self.of_slots((slot,))
        return self._made[slot]

    def of_slots(self, slots: Iterable[int]) -> list[Features]:
        """Those of several, by id: much less work than one after the other."""
        asked = list(slots)
        missing = [slot for slot in asked if slot not in self._made]
        for slot, meta in zip(missing, self.placed.metas(missing), strict=True):
            self._made[slot] = features_of(meta, self.gathered.noticed(slot))
        return sorted(map(self._made.__getitem__, asked), key=lambda each: each.id)


def _findings(entries: _Entries, words: Vocabulary, facts: AnalysisFacts) -> Iterator[Finding]:
    gathered, placed = entries.gathered, entries.placed

    def is_valid(each: Features) -> bool:
        return not has_passed(each.expires_at_ms, facts.now_ms)

    conflicts = [*value_conflicts([each for each in entries.of_slots(gathered.claims) if is_valid(each)], words)]
    deniers = list(denied(gathered.stated, gathered.denials))
    entries.of_slots({slot for each in deniers for slot in (each.affirming, each.denying)})
    conflicts += [
        each for each in denial_conflicts(deniers, entries.in_slot) if is_valid(each.one) and is_valid(each.other)
    ]
    yield from contradictions(conflicts)
    yield from duplicates(entries.of_slots(_equals(gathered, placed, facts)))
    pairs = sorted(gathered.likened.pairs, key=lambda each: (placed.id(each.one), placed.id(each.other)))
    entries.of_slots({slot for each in pairs for slot in (each.one, each.other)})
    yield from likenesses(pairs, entries.in_slot, pairs_of(conflicts))
    chars = gathered.outlines.body_chars
    short = placed.with_places({slot: place for slot, place in placed.places.items() if is_short(chars[slot])})
    yield from fragmented(entries.of_slots(short.without(facts.left_alone).places))


def comparison_key(live: Sequence[Listed], facts: AnalysisFacts) -> str:
    """What is the same where the same is found: SHA-256 over the files of the entries, in their order, the instants that a
    file may have from its mtime, whose time is over, and what is left alone; hex."""
    digest = hashlib.sha256()
    for column in ("meta.id", "path", "content_hash"):
        text = "\0".join(column_of(live, column))  # which is in none of them
        digest.update(f"{column} {len(text)} {text}".encode("utf-8", "surrogatepass"))
    over = column_of(over_by(live, facts.now_ms), "meta.id")
    left = sorted(facts.left_alone.intersection(column_of(live, "meta.id")))
    instants = [column_of(live, column) for column in ("meta.created_at_ms", "meta.updated_at_ms")]
    digest.update(marshal.dumps(instants, _WITHOUT_REFERENCES))
    digest.update(repr((over, left)).encode())
    return digest.hexdigest()


def may_be_kept(compared: Compared, listed: Sequence[Listed], read: Sequence[Listed]) -> Compared | None:
    """What may be kept elsewhere of what was found in these: nothing of a secret entry. None where something was found in one
    together with others, which would be missing, and where what was read is not what was listed."""
    if column_of(read, "content_hash") != column_of(listed, "content_hash"):
        return None
    secret = secret_ids(listed)
    if not secret:
        return compared
    if not all(secret.isdisjoint(each.ids) for each in compared.findings):
        return None
    return Compared(compared.findings, compared.outlines.only(compared.outlines.slots.keys() - secret))
