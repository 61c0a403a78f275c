"""The order of what was found: every reason adds to one sum, and each is told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.instants import DAY_MS, has_passed
from agent_memory.domain.searching.matching import MatchedWord, NearNote, NoteLink, Relation, TermPart
from agent_memory.domain.searching.query_hints import QueryHints
from agent_memory.domain.searching.search import ScorePart
from agent_memory.domain.searching.terms import QueryWord
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance

_TOLD_WORDS = 8


@frozen
class RankingWeights:
    """What each reason to show an entry is worth. The unit is the score that the best entry has by its words alone.

    One recipe for every store, judged on ten sets of which each was left out in turn (docs/search.md, docs/adr/0034-ranking-by-few-signals.md).
    """

    meaning: float = 0.12
    """For each standard deviation by which the meaning is nearer to the query than that of the store's other entries."""
    near: tuple[float, ...] = (0.4, 0.2)
    """Share of the own score of an entry one turn before or after in the same session, and of one two turns away."""
    near_terms: float = 30.0
    """Only short turns say so little that what stands around them counts: of entries that are longer than so many terms in the
    mean of both, the share falls with the square of the length."""
    links: float = 0.1
    """Share of the own score of the best entry that it links to, or that links to it."""
    asked_for: float = 0.15
    """The entry is of the kind that the query asks for (`decision about …`), of a time that it names, or the newest where it asks
    for that; half as much for each `newest_half_life_days` before the newest."""
    newest_half_life_days: float = 30.0
    here: float = 0.05
    """The entry is of the scope of whoever asks; one of another repository loses as much."""
    importance: float = 0.02
    """For each step above `medium`, and taken off for one below."""
    outdated: float = 0.6
    """What is left of an entry that is archived, has expired, is no longer true, or is superseded."""


WEIGHTS = RankingWeights()


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


def from_near(own: Mapping[int, float], near: Iterable[NearNote], weights: RankingWeights) -> dict[int, float]:
    """What entries get from the turns around them, by what those have of their own."""
    given: dict[int, float] = {}
    for each in near:
        score = own.get(each.number, 0.0)
        if score > 0 and 1 <= each.turns <= len(weights.near):
            shortness = min(1.0, weights.near_terms / max(each.terms, 1.0)) ** 2
            given[each.other] = given.get(each.other, 0.0) + shortness * weights.near[each.turns - 1] * score
    return given


def from_links(own: Mapping[int, float], links: Iterable[NoteLink], weights: RankingWeights) -> dict[int, float]:
    """What entries get from those that they are linked with, both ways: of each the best one counts."""
    given: dict[int, float] = {}
    for link in links:
        if link.relation is Relation.LINKS:
            for one, other in ((link.source, link.target), (link.target, link.source)):
                if (value := weights.links * own.get(other, 0.0)) > 0:
                    given[one] = max(given.get(one, 0.0), value)
    return given


def weigh(
    parts: Mapping[int, Sequence[ScorePart]],
    listed: Mapping[int, Listed],
    hints: QueryHints,
    asker: Asker,
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
            ("kind", weights.asked_for if meta.kind in hints.kinds else 0.0, meta.kind.value),
            ("newest", _newness(meta, newest_ms, weights) if hints.newest else 0.0, ""),
            ("period", weights.asked_for if _in_period(meta, hints) else 0.0, ""),
            ("importance", weights.importance * _importance_steps(meta), meta.importance.value),
        )
        told = [*given, *(ScorePart(name, value, detail) for name, value, detail in added if value)]
        total = sum(part.value for part in told)
        is_over = has_passed(meta.expires_at_ms, asker.now_ms) or has_passed(meta.valid_until_ms, asker.now_ms)
        if each.archived or is_over:
            told.append(ScorePart("archived" if each.archived else "over", total * (weights.outdated - 1)))
            total *= weights.outdated
        ranked[number] = Ranked(number, each, total, tuple(told))
    return ranked


def _here(meta: Meta, here: str, weights: RankingWeights) -> float:
    if here == GLOBAL_SCOPE or meta.scope == GLOBAL_SCOPE:
        return 0.0
    return weights.here if meta.scope == here else -weights.here


def _importance_steps(meta: Meta) -> int:
    steps = list(Importance)
    return steps.index(meta.importance) - steps.index(Importance.MEDIUM)


def _true_since(meta: Meta) -> int:
    return meta.updated_at_ms if meta.valid_from_ms is None else meta.valid_from_ms


def _newness(meta: Meta, newest_ms: int, weights: RankingWeights) -> float:
    age_days = max(0, newest_ms - _true_since(meta)) / DAY_MS
    return weights.asked_for * float(0.5 ** min(age_days / weights.newest_half_life_days, 1_000.0))


def _in_period(meta: Meta, hints: QueryHints) -> bool:
    at_ms = meta.created_at_ms if meta.valid_from_ms is None else meta.valid_from_ms
    return any(period.holds(at_ms) for period in hints.periods)


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
        lost = was.total * (weights.outdated - 1)
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


def strength_of(
    asked: Sequence[QueryWord], words: Sequence[MatchedWord], parts: Sequence[TermPart], cosine: float = 0.0
) -> float:
    """0 to 1: the root of the share of the query's words, by their worth, that the hit has; or how near in meaning it is, if
    that is more. So it says the same whatever else was found. A question in whole sentences names much that no entry says:
    hence the root. A word that no entry has is worth as much as the rarest; `Q2` is one word, whatever it is looked up by
    besides."""
    several = any(len(word.term) > 1 for word in words)
    worth = {word.term: word.idf for word in words if len(word.term) > 1 or not several}
    nowhere = sum(word.stretches and word.term not in worth for word in asked)
    whole = sum(worth.values()) + nowhere * max(worth.values(), default=0.0)
    most = sum(worth.get(part.term, 0.0) for part in parts)
    said = math.sqrt(min(most / whole, 1.0)) if whole > 0 else 0.0
    return max(said, min(max(cosine, 0.0), 1.0))


def with_words(parts: Sequence[ScorePart], said: Sequence[TermPart]) -> tuple[ScorePart, ...]:
    """The parts, that of the words with the words themselves, those worth most first."""
    best = sorted(said, key=lambda part: -part.value)
    words = [part.found if part.found == part.term else f"{part.found} for {part.term}" for part in best]
    more = f" and {len(words) - _TOLD_WORDS} more" if len(words) > _TOLD_WORDS else ""
    detail = ", ".join(words[:_TOLD_WORDS]) + more
    return tuple(evolve(part, detail=detail) if part.name == "words" else part for part in parts)
