"""Tiers and scores in columns are those of the entries one by one."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, Source, Usage, reads_of
from agent_memory.domain.findings import Profile
from agent_memory.domain.tiering.score import tier_columns, tier_facts
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity
from packed_notes import packed

NOW_MS = 1_771_000_000_000
DAY_MS = 86_400_000
IDS = [f"id__{number:06}" for number in range(8)]

instants = st.integers(-5, 400).map(lambda days: NOW_MS - days * DAY_MS) | st.sampled_from((0, NOW_MS, NOW_MS + 1))
sources = st.sampled_from(((), (Source(Harness.AMP),), (Source(Harness.AMP), Source(Harness.CODEX, "c-1", turns=(0,)))))
metas = st.builds(
    Meta,
    id=st.sampled_from(IDS),
    title=st.just("A title"),
    created_at_ms=instants,
    updated_at_ms=instants,
    kind=st.sampled_from(Kind),
    origin=st.sampled_from(Origin),
    importance=st.sampled_from(Importance),
    sensitivity=st.sampled_from(Sensitivity),
    pinned=st.booleans(),
    promoted_by=st.sampled_from((None, "person", "an import")),
    used=st.integers(-2, 600),
    last_used_at_ms=st.none() | instants,
    expires_at_ms=st.none() | instants,
    sources=sources,
)
usages = st.dictionaries(st.sampled_from(IDS), st.builds(Usage, st.integers(-2, 600), st.none() | instants))


@given(st.lists(metas, unique_by=lambda meta: meta.id), usages, st.sampled_from((NOW_MS, 0)), st.booleans())
def test_the_columns_say_what_is_said_of_each_entry(
    metas: Sequence[Meta], usage: dict[str, Usage], now_ms: int, is_packed: bool
) -> None:
    entries: Sequence[Listed] = [Listed(meta, f"topics/{meta.id}.md", "") for meta in metas]
    facts = [tier_facts(meta, Profile(0, 0), reads_of(meta, usage), now_ms) for meta in metas]
    if is_packed:
        entries = packed(entries)
    columns = tier_columns(entries, usage, now_ms)
    assert columns.best == [each.best for each in facts]
    assert columns.scores == [each.score for each in facts]
    assert columns.reads == [reads_of(meta, usage).count for meta in metas]
