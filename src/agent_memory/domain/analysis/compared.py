"""What comparing the entries of a store with each other finds. It depends on nothing but them, and is most of what is left of
an analysis once each has been looked at by itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from agent_memory.domain.analysis.ages import over_by
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.conflicts import denial_conflicts, pairs_of, value_conflicts
from agent_memory.domain.analysis.connections import one_way_links
from agent_memory.domain.analysis.contradictions import contradictions
from agent_memory.domain.analysis.denials import denied
from agent_memory.domain.analysis.duplicates import duplicates, later_equals, likenesses
from agent_memory.domain.analysis.features import Features, features_of
from agent_memory.domain.analysis.gathered import FREE, Gathered
from agent_memory.domain.analysis.likeness import likened
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.outlines import OutlineColumns, Outlines
from agent_memory.domain.analysis.sizes import fragmented, is_short
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.findings import Finding
from agent_memory.domain.instants import has_passed
from agent_memory.domain.packed_entries import chosen, column_of
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.values import evolve, field, frozen

NOTHING = Gathered()
"""What is known where nothing is."""


@frozen
class Compared:
    """What is found in several entries together, and of each alone what a later look at it needs."""

    findings: tuple[Finding, ...] = ()
    """In the order in which they were found."""
    outlines: Outlines = field(factory=lambda: Outlines({}, OutlineColumns()))


def compare(
    notes: Iterable[tuple[Listed, int | Noticed]], words: Vocabulary, facts: AnalysisFacts, before: Gathered = NOTHING
) -> tuple[Compared, Gathered]:
    """What is found, and what of it to know the next time, in which is nothing of a secret note. With each note comes its slot
    in `before`, or what is noticed in it, in numbers of `words`, which begin with those of `before`. What is known of before
    makes no other difference than in time. Of two notes with one id the first counts; of `facts`, only those count that
    `comparison_key` names."""
    seen: set[str] = set()
    metas: dict[int, Meta] = {}
    plain: list[tuple[Listed, Noticed]] = []
    secret: list[tuple[Listed, Noticed]] = []
    for listed, known in notes:
        if listed.meta.id in seen:
            continue
        seen.add(listed.meta.id)
        if isinstance(known, int):
            metas[known] = listed.meta
        else:
            (secret if listed.meta.sensitivity is Sensitivity.SECRET else plain).append((listed, known))
    gone = {slot for slot, mark in enumerate(before.marks) if mark != FREE and slot not in metas}
    kept = _with(before, gone, plain, metas, words, facts)
    whole = _with(kept, set(), secret, metas, words, facts)
    entries = _Entries(whole, metas)
    outlines = Outlines({meta.id: slot for slot, meta in metas.items()}, whole.outlines)
    return Compared(tuple(_findings(entries, words, facts)), outlines), kept


def _with(
    before: Gathered,
    gone: Set[int],
    new: Sequence[tuple[Listed, Noticed]],
    metas: dict[int, Meta],
    words: Vocabulary,
    facts: AnalysisFacts,
) -> Gathered:
    """What is known with these notes too, whose slots are added to `metas`, and compared for likeness."""
    placed = dict(zip(before.free_slots(len(new), gone), new, strict=True))
    metas |= {slot: listed.meta for slot, (listed, _) in placed.items()}
    now = before.changed(gone, placed, words)
    entries = _Entries(now, metas)
    equal = frozenset(each.id for each in later_equals(entries.of_slots(_equals(now, metas, facts))))
    free = {slot: meta for slot, meta in metas.items() if meta.id not in facts.left_alone and meta.id not in equal}
    found = likened(before.likened, before, now, free, {*gone, *placed}, words)
    return now if found is before.likened else evolve(now, likened=found)


def _equals(gathered: Gathered, metas: Mapping[int, Meta], facts: AnalysisFacts) -> Iterator[int]:
    """The slots of notes whose bodies others have too, but for those that are left alone."""
    free = [slot for slot, meta in metas.items() if meta.id not in facts.left_alone]
    times = Counter(gathered.digests[slot] for slot in free)
    return (slot for slot in free if times[gathered.digests[slot]] > 1)


class _Entries:
    """The features of those entries that are asked for, always the same ones."""

    def __init__(self, gathered: Gathered, metas: Mapping[int, Meta]) -> None:
        self.gathered, self.metas = gathered, metas
        self._made: dict[int, Features] = {}

    def in_slot(self, slot: int) -> Features:
        """Those of one note."""
        found = self._made.get(slot)
        if found is None:
            found = self._made[slot] = features_of(self.metas[slot], self.gathered.noticed(slot))
        return found

    def of_slots(self, slots: Iterable[int]) -> list[Features]:
        """Those of several, by id."""
        return sorted(map(self.in_slot, slots), key=lambda each: each.id)


def _findings(entries: _Entries, words: Vocabulary, facts: AnalysisFacts) -> Iterator[Finding]:
    gathered, metas = entries.gathered, entries.metas
    valid = {meta.id for meta in metas.values() if not has_passed(meta.expires_at_ms, facts.now_ms)}
    claiming = [each for each in entries.of_slots(gathered.claims) if each.id in valid]
    conflicts = [*value_conflicts(claiming, words)]
    conflicts += [
        each
        for each in denial_conflicts(denied(gathered.stated, gathered.denials), entries.in_slot)
        if each.one.id in valid and each.other.id in valid
    ]
    yield from contradictions(conflicts)
    yield from duplicates(entries.of_slots(_equals(gathered, metas, facts)))
    pairs = sorted(gathered.likened.pairs, key=lambda each: (metas[each.one].id, metas[each.other].id))
    yield from likenesses(pairs, entries.in_slot, pairs_of(conflicts))
    chars = gathered.outlines.body_chars
    short = (slot for slot, meta in metas.items() if is_short(chars[slot]) and meta.id not in facts.left_alone)
    yield from fragmented(entries.of_slots(short))
    yield from one_way_links(entries.of_slots(_linked(gathered, metas)))


def _linked(gathered: Gathered, metas: Mapping[int, Meta]) -> Iterator[int]:
    """The slots of notes that link to others, and of those that any links to."""
    links = {slot: links for slot, (links, *_) in gathered.outlines.others.items() if links and slot in metas}
    targets = {id.casefold() for each in links.values() for id in each}
    for slot, meta in metas.items() if targets else ():
        names = (id.casefold() for id in (meta.id, *meta.aliases))
        if slot in links or not targets.isdisjoint(names):
            yield slot


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
    digest.update(repr((instants, over, left)).encode())
    return digest.hexdigest()


def may_be_kept(compared: Compared, listed: Sequence[Listed], read: Sequence[Listed]) -> Compared | None:
    """What may be kept elsewhere of what was found in these: nothing of a secret entry. None where something was found in one
    together with others, which would be missing, and where what was read is not what was listed."""
    if column_of(read, "content_hash") != column_of(listed, "content_hash"):
        return None
    is_secret = map(Sensitivity.SECRET.__eq__, column_of(listed, "meta.sensitivity"))
    secret = frozenset(column_of(chosen(listed, is_secret), "meta.id"))
    if not secret:
        return compared
    if not all(secret.isdisjoint(each.ids) for each in compared.findings):
        return None
    return Compared(compared.findings, compared.outlines.only(compared.outlines.slots.keys() - secret))
