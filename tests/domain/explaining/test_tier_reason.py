"""Why a note is in its tier, in sentences."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from agent_memory.domain.entry import Usage
from agent_memory.domain.explaining.tier_reason import TierStanding, score_in_words, tier_reason
from agent_memory.domain.tiering.score import score
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Kind, Origin, Sensitivity
from defrag_requests import DAY_MS, NOW_MS, stored


def standing(tier: Tier = Tier.COLD, **fields: Any) -> TierStanding:
    meta = stored("We use tabs", kind=Kind.DECISION, **fields).meta
    return TierStanding(meta, tier, Usage(0, None), NOW_MS)


def why(one: TierStanding) -> str:
    return tier_reason(one)[-1]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (standing(Tier.HOT, pinned=True, promoted_by="person"), "You pinned it"),
        (standing(Tier.HOT, promoted_by="person"), "You vouched for it"),
        (standing(Tier.HOT), "Defrag chose it"),
        (standing(Tier.HOT, origin=Origin.EXTERNAL), "The next defrag takes it out: only a tool"),
        (standing(expires_at_ms=NOW_MS - DAY_MS), "It expired on 2026-02-12; the next defrag archives it."),
        (standing(sensitivity=Sensitivity.SECRET), "It is shown to nobody unasked: it is secret."),
        (standing(origin=Origin.EXTERNAL), "It is shown to nobody unasked: only a tool"),
        (standing(Tier.WARM, origin=Origin.AGENT), "It can be warm at most: an agent concluded it"),
        (evolve(standing(), tiers_decided=False), "No defrag has decided yet"),
        (evolve(standing(), decided_since=False), "It was written after the last defrag"),
        (standing(valid_until_ms=NOW_MS - DAY_MS), "It stopped being true on 2026-02-12."),
        (
            evolve(standing(), weakest_hot=2.0),
            "It may be hot, and others are in front of it; the lowest score among them is 2.00.",
        ),
        (standing(), "It may be hot, and others are in front of it. `memory pin`"),
        (evolve(standing(), archived=True), "It is archived"),
    ],
)
def test_the_reason_is_the_one_that_holds(one: TierStanding, words: str) -> None:
    assert why(one).startswith(words)


@pytest.mark.parametrize("tier", Tier)
def test_what_the_tier_means_is_said_first(tier: Tier) -> None:
    first, _ = tier_reason(standing(tier))
    assert first.startswith(f"It is {tier}: ")


def test_a_score_is_told_with_its_factors() -> None:
    one = evolve(standing(), usage=Usage(3, NOW_MS - 45 * DAY_MS))
    assert score_in_words(one) == (
        f"Its score is {score(one.meta, one.usage, NOW_MS):.2f}: importance medium 2 × read 3 times 1.4 × "
        "last read or changed 2 days ago 1 × origin user 1."
    )
