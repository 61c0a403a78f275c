"""The frontmatter of what several entries become, and of the parts of one."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from agent_memory.domain.defragging.plan_defrag import Ground, part_meta, united_meta
from agent_memory.domain.entry import Meta, Source, StoredEntry, Usage
from agent_memory.domain.vocabulary import Harness, Kind, Origin, Status
from defrag_entries import LONG_AGO, NOW, facts_of, note

PORT = note("a", "Staging port", "The staging server listens on port 8080.")
DEPLOY = note("b", "Staging deploys", "Deploys go to staging.")
CITED = (Source(Harness.AMP, "s-1", turns=(1,)),)


def united(one: StoredEntry, other: StoredEntry, **facts: Any) -> Meta:
    return united_meta("id__nnnnnn", "Both", (one.entry, other.entry), (), Ground(facts_of(one, other, **facts)))


@pytest.mark.parametrize(
    ("one", "other", "latest"), [(5, 9, 9), (9, 5, 9), (5, None, None), (None, 5, None), (None, None, None)]
)
def test_what_is_united_ends_where_all_of_it_ends(one: int | None, other: int | None, latest: int | None) -> None:
    meta = united(
        note("a", "A", "B.", expires_at_ms=one, valid_until_ms=one),
        note("b", "B", "C.", expires_at_ms=other, valid_until_ms=other),
    )
    assert (meta.expires_at_ms, meta.valid_until_ms) == (latest, latest)


def test_reads_that_only_the_frontmatter_knows_count_where_no_ledger_does() -> None:
    one = note("a", "A", "B.", used=4, last_used_at_ms=70)
    other = note("b", "B", "C.", used=2, last_used_at_ms=60)
    assert (united(one, other).used, united(one, other).last_used_at_ms) == (6, 70)
    meta = united(one, other, usage={one.meta.id: Usage(1, 65)})
    assert (meta.used, meta.last_used_at_ms) == (3, 65)


@pytest.mark.parametrize(
    ("body", "kind", "kept"),
    [
        ("Deploys go to staging.", Kind.FACT, False),
        ("Deploys go to staging.", Kind.PREFERENCE, False),
        ("Always deploy to staging first.", Kind.FACT, False),
    ],
)
def test_an_agents_order_that_cites_its_session_needs_a_promotion_of_its_own(body: str, kind: Kind, kept: bool) -> None:
    """P19"""
    promoted = note("a", "Staging port", "Port 8080.", origin=Origin.USER, promoted_by="person")
    other = note("b", "Staging deploys", body, origin=Origin.AGENT, kind=kind, sources=CITED)
    assert united(promoted, other).promoted_by == ("person" if kept else None)


def test_a_part_has_its_own_id_title_and_tags_and_else_what_its_source_had() -> None:
    source = note("a", "Both", "B.", aliases=("id__oooooo",), pinned=True, status=Status.CAPTURED, tags=("topic__x",))
    ground = Ground(facts_of(source))
    part = part_meta("id__pppppp", "Part", source.entry, ("ops",), ground)
    assert part == evolve(
        source.meta,
        id="id__pppppp",
        title="Part",
        tags=("topic__ops",),
        status=Status.CONSOLIDATED,
        updated_at_ms=NOW,
        aliases=(),
        pinned=False,
    )
    later = evolve(source.entry, meta=evolve(note("a", "Both", "B.").meta, updated_at_ms=NOW + 5))
    part = part_meta("id__pppppp", "Part", later, (), Ground(facts_of(source, status=Status.CAPTURED)))
    assert (part.updated_at_ms, part.tags) == (NOW + 5, ("topic__web",))
    assert (part.status, part.created_at_ms) == (Status.CONSOLIDATED, LONG_AGO)
