"""The frontmatter of what several entries become, and of the parts of one (design §3.2)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from agent_memory.domain.defragging.comparable import said_by
from agent_memory.domain.defragging.ground import Ground
from agent_memory.domain.entry import MemoryEntry, Meta, Source, Usage
from agent_memory.domain.planning.drafts import stored_tags
from agent_memory.domain.planning.provenance import with_source
from agent_memory.domain.planning.statements import statements
from agent_memory.domain.tiering.vouched import best_tier, is_vouched_for
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Origin, furthest, highest, least_trusted, strictest


def united_meta(id: str, title: str, sources: tuple[MemoryEntry, ...], tags: tuple[str, ...], ground: Ground) -> Meta:
    """The frontmatter of a merge, but for description and what its own text does to its origin.

    Strictest sensitivity, least trusted origin, highest importance, lowest confidence, kind of the first, newest creation
    and validity, tags and sources united, an end only where all have one. Never pinned.
    """
    metas = tuple(each.meta for each in sources)
    origin = least_trusted(meta.origin for meta in metas)
    used = tuple(map(ground.used, metas))
    return Meta(
        id=id,
        title=title,
        created_at_ms=max(meta.created_at_ms for meta in metas),
        updated_at_ms=max(ground.facts.now_ms, *(meta.updated_at_ms for meta in metas)),
        kind=metas[0].kind,
        tags=stored_tags((*(tag for meta in metas for tag in meta.tags), *tags)),
        status=furthest((*(meta.status for meta in metas), ground.facts.status)),
        origin=origin,
        scope=metas[0].scope,
        importance=highest(meta.importance for meta in metas),
        confidence=min((meta.confidence for meta in metas if meta.confidence is not None), default=None),
        sensitivity=strictest(meta.sensitivity for meta in metas),
        promoted_by=_vouched_by(sources),
        used=sum(each.count for each in used),
        last_used_at_ms=_last(used),
        expires_at_ms=_latest_of_all(meta.expires_at_ms for meta in metas),
        valid_from_ms=max((meta.valid_from_ms for meta in metas if meta.valid_from_ms is not None), default=None),
        valid_until_ms=_latest_of_all(meta.valid_until_ms for meta in metas),
        aliases=(aliases := ids_and_aliases(metas)),
        supersedes=_united(id for meta in metas for id in meta.supersedes if id not in aliases),
        sources=_united_sources(source for meta in metas for source in meta.sources),
    )


def part_meta(id: str, title: str, source: MemoryEntry, tags: tuple[str, ...], ground: Ground) -> Meta:
    """The frontmatter of one part of a split: its source's, without aliases."""
    used = ground.used(source.meta)
    return evolve(
        source.meta,
        id=id,
        title=title,
        tags=stored_tags(tags) or source.meta.tags,
        status=furthest((source.meta.status, ground.facts.status)),
        updated_at_ms=max(ground.facts.now_ms, source.meta.updated_at_ms),
        used=used.count,
        last_used_at_ms=used.last_at_ms,
        aliases=(),
        pinned=False,
    )


def with_origin(meta: Meta, fresh: Origin) -> Meta:
    """The frontmatter once the text has been judged: what comes out external has lost a person's promotion."""
    origin = least_trusted((meta.origin, fresh))
    return evolve(meta, origin=origin, promoted_by=None if origin is Origin.EXTERNAL else meta.promoted_by)


def ids_and_aliases(metas: Iterable[Meta]) -> tuple[str, ...]:
    """Every id by which these entries are found."""
    return _united(id for meta in metas for id in (meta.id, *meta.aliases))


def _vouched_by(sources: tuple[MemoryEntry, ...]) -> str | None:
    """Whose promotion holds for all of it: what comes in beside a promoted entry must need none, or say nothing more."""
    vouched = [each for each in sources if is_vouched_for(each.meta)]
    if not vouched:
        return None
    known = {sentence for each in vouched for sentence in statements(said_by(each))}
    others = (each for each in sources if not is_vouched_for(each.meta))
    is_for_all = all(best_tier(each.meta) is Tier.HOT or known.issuperset(statements(said_by(each))) for each in others)
    return vouched[0].meta.promoted_by if is_for_all else None


def _united(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _united_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    united: tuple[Source, ...] = ()
    for source in sources:
        if source not in united:
            united = with_source(united, source)
    return united


def _latest_of_all(instants: Iterable[int | None]) -> int | None:
    known = tuple(instants)
    ends = [each for each in known if each is not None]
    return max(ends) if len(ends) == len(known) else None


def _last(used: Iterable[Usage]) -> int | None:
    return max((each.last_at_ms for each in used if each.last_at_ms is not None), default=None)
