"""The order of what was found: every reason adds to one sum, and each is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, inf

from attrs import evolve, field, frozen

from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.instants import DAY_MS, has_passed
from agent_memory.domain.searching.bm25f import idf
from agent_memory.domain.searching.indexed_note import NearNote, NoteLink, Place, Relation
from agent_memory.domain.searching.matching import TermPart
from agent_memory.domain.searching.query_hints import QueryHints
from agent_memory.domain.searching.ranking_weights import RankingWeights
from agent_memory.domain.searching.search_answer import ScorePart
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import GLOBAL_SCOPE

_SURE_OF_NEITHER = 0.5


@frozen
class Surroundings:
    """What ties the found entries to others, by the index's numbers."""

    near: Mapping[int, Sequence[NearNote]] = field(factory=dict[int, Sequence[NearNote]])
    places: Sequence[Place] = ()
    links: Sequence[NoteLink] = ()


@frozen
class Asker:
    """Who asks, and when."""

    now_ms: int
    here: str = GLOBAL_SCOPE


@frozen
class Ranked:
    """One entry with its place in the order."""

    number: int
    listed: Listed
    total: float
    """The sum of the parts; 1 is what the best entry has by its words alone."""
    parts: tuple[ScorePart, ...]
    successor: int | None = None
    """The entry that supersedes it."""


@frozen
class Found:
    """What index and model say of the entries, by the index's numbers."""

    words: Mapping[int, float] = field(factory=dict[int, float])
    """Score by words."""
    meaning: Mapping[int, float] = field(factory=dict[int, float])
    """By how many standard deviations the meaning is nearer than usual."""
    said: Mapping[int, Sequence[TermPart]] = field(factory=dict[int, Sequence[TermPart]])
    """Of the best entries, what each word adds."""
    worth: Mapping[str, float] = field(factory=dict[str, float])
    """What each word of the query is worth."""


def spread(found: Found, ties: Surroundings, weights: RankingWeights, most: int) -> dict[int, list[ScorePart]]:
    """What words, meaning and the entries around give to each of the `most` entries that are given most, the best first: of
    what was found, and of what is beside it. What the frontmatter adds is too little to bring up another one. The best
    score by words becomes 1."""
    best_by_words = max(found.words.values(), default=0.0)
    own = {number: score / best_by_words for number, score in found.words.items()} if best_by_words > 0 else {}
    meaning = {number: weights.meaning * deviations for number, deviations in found.meaning.items()}
    given: Sequence[tuple[str, Mapping[int, float]]] = (
        ("words", own),
        ("meaning", meaning),
        ("near", _from_near(own, ties.near, weights.near)),
        ("session", _from_session(found, ties.places, weights.session)),
        ("session meaning", _from_session_meaning(found.meaning, ties.places, weights)),
        ("links", _from_links(own, ties.links, weights.links)),
    )
    # Around a hundred entries there are a thousand: reasons are put into words for those alone that stay.
    totals: dict[int, float] = {}
    for _, values in given:
        for number, value in values.items():
            totals[number] = totals.get(number, 0.0) + value
    best = sorted(totals, key=lambda each: (-totals[each], each))[:most]
    return {
        number: [
            ScorePart(name, values[number], _deviations(found, number) if values is meaning else "")
            for name, values in given
            if number in values
        ]
        for number in best
    }


def _deviations(found: Found, number: int) -> str:
    return f"{found.meaning[number]:+.1f} standard deviations"


def _from_near(
    own: Mapping[int, float], near: Mapping[int, Sequence[NearNote]], shares: Sequence[float]
) -> dict[int, float]:
    given: dict[int, float] = {}
    for number, others in near.items():
        score = own.get(number, 0.0)
        for other in others:
            distance = abs(other.distance)
            if score and 1 <= distance <= len(shares):
                given[other.number] = given.get(other.number, 0.0) + shares[distance - 1] * score
    return given


def _from_session(found: Found, places: Sequence[Place], share: float) -> dict[int, float]:
    """How well each session as a whole answers: what its entries have of the words, each word once, by its rarity among
    the sessions. The best session gives the whole share to each of its entries; one entry alone makes no session."""
    members = _members(places)
    said = {session: _best_of_each(found, numbers) for session, numbers in members.items()}
    sessions_with: dict[str, int] = {}
    for words in said.values():
        for term in words:
            sessions_with[term] = sessions_with.get(term, 0) + 1
    rarity = {term: idf(count, len(said)) for term, count in sessions_with.items()}
    scores = {session: sum(rarity[term] * value for term, value in words.items()) for session, words in said.items()}
    most = max(scores.values(), default=0.0)
    given: dict[int, float] = {}
    for session, score in scores.items():
        for number in members[session] if score > 0 else ():
            given[number] = max(given.get(number, 0.0), share * score / most)
    return given


def _from_session_meaning(
    meaning: Mapping[int, float], places: Sequence[Place], weights: RankingWeights
) -> dict[int, float]:
    """How near in meaning each session is: the mean of its entries, drawn to the usual (0) where these are few."""
    given: dict[int, float] = {}
    for numbers in _members(place for place in places if place.number in meaning).values():
        mean = fsum(meaning[number] for number in numbers) / (len(numbers) + weights.session_meaning_entries)
        for number in numbers:
            given[number] = max(given.get(number, -inf), weights.session_meaning * mean)
    return given


def _members(places: Iterable[Place]) -> dict[str, set[int]]:
    """The entries of each session, the sessions in order of their names; one entry alone makes no session."""
    members: dict[str, set[int]] = {}
    for place in places:
        members.setdefault(place.session, set()).add(place.number)
    return {session: numbers for session, numbers in sorted(members.items()) if len(numbers) > 1}


def _best_of_each(found: Found, numbers: Iterable[int]) -> dict[str, float]:
    """For each word how fully one of these entries says it, 0 to 1."""
    best: dict[str, float] = {}
    for number in numbers:
        for part in found.said.get(number, ()):
            if worth := found.worth.get(part.term, 0.0):
                best[part.term] = max(best.get(part.term, 0.0), part.value / worth)
    return best


def _from_links(own: Mapping[int, float], links: Sequence[NoteLink], share: float) -> dict[int, float]:
    """Both ways: for each entry the best one that it is linked with."""
    given: dict[int, float] = {}
    for link in links:
        if link.relation is Relation.LINKS and link.source != link.target:
            for one, other in ((link.source, link.target), (link.target, link.source)):
                if value := share * own.get(other, 0.0):
                    given[one] = max(given.get(one, 0.0), value)
    return given


def weigh(
    parts: Mapping[int, Sequence[ScorePart]],
    listed: Mapping[int, Listed],
    hints: QueryHints,
    asker: Asker,
    tiers: Mapping[str, Tier],
    usage: Mapping[str, Usage],
    weights: RankingWeights,
) -> dict[int, Ranked]:
    """Each entry with what its frontmatter adds. Entries without a positive score are left out."""
    newest_ms = max((_true_since(each.meta) for number, each in listed.items() if number in parts), default=0)
    ranked: dict[int, Ranked] = {}
    for number, given in parts.items():
        each = listed.get(number)
        if each is None or sum(part.value for part in given) <= 0:
            continue
        meta = each.meta
        added = (
            ("here", _here(meta, asker.here, weights), meta.scope),
            ("kind", weights.kind if meta.kind in hints.kinds else 0.0, meta.kind.value),
            ("newest", _newness(meta, newest_ms, weights) if hints.newest else 0.0, ""),
            ("period", weights.period if _in_period(meta, hints) else 0.0, ""),
            ("importance", weights.importance[meta.importance], meta.importance.value),
            ("confidence", _confidence(meta, weights), ""),
            ("tier", weights.tier[tiers.get(meta.id, Tier.COLD)], tiers.get(meta.id, Tier.COLD).value),
            ("used", _used(usage.get(meta.id), weights), ""),
        )
        all_parts = (*given, *(ScorePart(name, value, detail) for name, value, detail in added if value))
        ranked[number] = _lessened(number, each, all_parts, asker, weights)
    return ranked


def _here(meta: Meta, here: str, weights: RankingWeights) -> float:
    if here == GLOBAL_SCOPE or meta.scope == GLOBAL_SCOPE:
        return 0.0
    return weights.here if meta.scope == here else -weights.here


def _true_since(meta: Meta) -> int:
    return meta.updated_at_ms if meta.valid_from_ms is None else meta.valid_from_ms


def _newness(meta: Meta, newest_ms: int, weights: RankingWeights) -> float:
    age_days = max(0, newest_ms - _true_since(meta)) / DAY_MS
    return weights.newest * float(0.5 ** min(age_days / weights.newest_half_life_days, 1_000.0))


def _in_period(meta: Meta, hints: QueryHints) -> bool:
    at_ms = meta.created_at_ms if meta.valid_from_ms is None else meta.valid_from_ms
    return bool(hints.periods) and any(period.holds(at_ms) for period in hints.periods)


def _confidence(meta: Meta, weights: RankingWeights) -> float:
    return 0.0 if meta.confidence is None else weights.confidence * (meta.confidence - _SURE_OF_NEITHER) * 2


def _used(usage: Usage | None, weights: RankingWeights) -> float:
    count = 0 if usage is None else max(usage.count, 0)
    return weights.usage * count / (count + weights.usage_half_reads)


def _lessened(number: int, listed: Listed, parts: Sequence[ScorePart], asker: Asker, weights: RankingWeights) -> Ranked:
    """With what is taken off for an entry that does not hold any more."""
    meta, total = listed.meta, sum(part.value for part in parts)
    factors: list[tuple[str, float]] = []
    if listed.archived:
        factors.append(("archived", weights.archived))
    if has_passed(meta.expires_at_ms, asker.now_ms) or has_passed(meta.valid_until_ms, asker.now_ms):
        factors.append(("over", weights.over))
    told = list(parts)
    for name, factor in factors:
        told.append(ScorePart(name, total * (factor - 1)))
        total *= factor
    return Ranked(number, listed, total, tuple(told))


def with_successors(
    ranked: Mapping[int, Ranked],
    links: Iterable[NoteLink],
    listed: Mapping[int, Listed],
    weights: RankingWeights,
) -> dict[int, Ranked]:
    """What is superseded stands below its successor, and says so; a successor that has less gets what the superseded one
    had, since it is what that one says now. One that is not among `listed` may not be shown."""
    successors = {
        link.target: link.source
        for link in sorted(links, key=lambda link: (link.target, -link.source))
        if link.relation is Relation.SUPERSEDES and link.source != link.target
    }
    changed = dict(ranked)
    for old in sorted((each for each in ranked if each in successors), key=lambda each: (-ranked[each].total, each)):
        new = _last_successor(old, successors)
        if new is None:
            continue
        was = changed[old]
        if new in listed:
            heir = changed.get(new) or Ranked(new, listed[new], 0.0, ())
            if was.total > heir.total:
                part = ScorePart("supersedes", was.total - heir.total, was.listed.meta.id)
                changed[new] = evolve(heir, total=was.total, parts=(*heir.parts, part))
        lost = was.total * (weights.superseded - 1)
        changed[old] = evolve(
            was, total=was.total + lost, parts=(*was.parts, ScorePart("superseded", lost)), successor=new
        )
    return changed


def _last_successor(number: int, successors: Mapping[int, int]) -> int | None:
    """The end of the chain; None where it goes round."""
    seen = {number}
    while number in successors:
        number = successors[number]
        if number in seen:
            return None
        seen.add(number)
    return number


def in_order(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The best first; of equals the one that changed last, then by id."""
    return sorted(ranked, key=lambda each: (-each.total, -each.listed.meta.updated_at_ms, each.listed.meta.id))


def live_first(page: Iterable[Ranked]) -> list[Ranked]:
    """The same entries, those of the archive at the end."""
    return sorted(page, key=lambda each: each.listed.archived)
