"""How strongly an entry competes for a place."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.domain.entry import Meta, Usage
from agent_memory.domain.tiering.score import CLEARLY_BETTER, score, tier_facts
from agent_memory.domain.vocabulary import Importance, Kind, Origin, Tier

DAY_MS = 86_400_000
NOW = 2_000 * DAY_MS
META = Meta("id__a1b2c3", "Ports", NOW, NOW)
UNREAD = Usage(0, None)
BODY_CHARS = 100


def test_importance_use_recency_origin_and_a_pin_count() -> None:
    base = score(META, UNREAD, NOW)
    assert score(evolve(META, importance=Importance.HIGH), UNREAD, NOW) == 2 * base
    assert score(META, Usage(40, NOW), NOW) > base
    assert score(evolve(META, updated_at_ms=NOW - 90 * DAY_MS), UNREAD, NOW) < base
    assert score(evolve(META, origin=Origin.AGENT), UNREAD, NOW) < base
    assert score(evolve(META, pinned=True), UNREAD, NOW) > 1_000


def test_what_a_person_prefers_does_not_age() -> None:
    years = 900 * DAY_MS
    for kind in (Kind.PREFERENCE, Kind.CONVENTION):
        said = evolve(META, kind=kind)
        assert score(said, UNREAD, NOW + years) == score(said, UNREAD, NOW)
        concluded = evolve(said, origin=Origin.AGENT)
        assert score(concluded, UNREAD, NOW + years) < score(concluded, UNREAD, NOW)
        vouched = evolve(concluded, promoted_by="person")
        assert score(vouched, UNREAD, NOW + years) == score(vouched, UNREAD, NOW)


@settings(max_examples=50)
@given(st.integers(0, 1_000), st.integers(0, 3_000), st.integers(0, 3_000))
def test_it_does_not_swing_with_one_read_or_a_few_days(count: int, age_days: int, read_days: int) -> None:
    meta = evolve(META, updated_at_ms=NOW - age_days * DAY_MS)
    usage = Usage(count, NOW - read_days * DAY_MS)
    today = score(meta, usage, NOW)
    assert today > 0
    once_more = score(meta, evolve(usage, count=count + 1), NOW)
    assert today <= once_more < CLEARLY_BETTER * today
    in_a_week = score(meta, usage, NOW + 7 * DAY_MS)
    assert in_a_week <= today < CLEARLY_BETTER * in_a_week


def test_a_clock_that_was_set_back_and_odd_counts_do_no_harm_p24() -> None:
    assert score(META, Usage(-5, NOW + 900 * DAY_MS), NOW - 900 * DAY_MS) == score(META, UNREAD, NOW)


def test_what_has_expired_is_cold_unless_pinned() -> None:
    expired = evolve(META, expires_at_ms=NOW)
    assert tier_facts(META, BODY_CHARS, UNREAD, NOW).best is Tier.HOT
    assert tier_facts(expired, BODY_CHARS, UNREAD, NOW - 1).best is Tier.HOT
    assert tier_facts(expired, BODY_CHARS, UNREAD, NOW).best is Tier.COLD
    assert tier_facts(evolve(expired, pinned=True), BODY_CHARS, UNREAD, NOW).best is Tier.HOT
