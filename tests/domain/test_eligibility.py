"""How near to an agent an entry may come unasked (P19)."""

from __future__ import annotations

import itertools

import pytest
from attrs import evolve

from agent_memory.domain.entry import Meta, Source
from agent_memory.domain.tiering.eligibility import best_tier, is_directive_entry, why_not_nearer
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Harness, Kind, Origin, Sensitivity

CITED = (Source(Harness.AMP, "T-1", turns=(3,)),)
PLAIN = Meta("id__a1b2c3", "Ports", 1, 1, origin=Origin.AGENT, sources=CITED)


def test_what_a_person_said_may_be_hot_even_an_order_p19() -> None:
    said = evolve(PLAIN, origin=Origin.USER, sources=())
    assert best_tier(said, is_directive=True) is Tier.HOT
    assert why_not_nearer(said, is_directive=True) == ""


@pytest.mark.parametrize(
    ("meta", "is_directive", "best", "reason"),
    [
        (PLAIN, False, Tier.HOT, ""),
        (PLAIN, True, Tier.COLD, "no person said so"),
        (evolve(PLAIN, sources=()), False, Tier.WARM, "no turn"),
        (evolve(PLAIN, sources=(Source(Harness.AMP, "T-1"),)), False, Tier.WARM, "no turn"),
        (evolve(PLAIN, sources=(), pinned=True), False, Tier.HOT, ""),
        (evolve(PLAIN, origin=Origin.EXTERNAL), False, Tier.COLD, "memory promote"),
        (evolve(PLAIN, origin=Origin.EXTERNAL, pinned=True), False, Tier.COLD, "memory promote"),
        (evolve(PLAIN, origin=Origin.EXTERNAL, promoted_by="person"), True, Tier.HOT, ""),
        (evolve(PLAIN, origin=Origin.EXTERNAL, promoted_by="model"), False, Tier.COLD, "memory promote"),
        (evolve(PLAIN, promoted_by="person"), True, Tier.HOT, ""),
    ],
)
def test_whose_knowledge_it_is_decides_p19(meta: Meta, is_directive: bool, best: Tier, reason: str) -> None:
    assert best_tier(meta, is_directive) is best
    assert reason in why_not_nearer(meta, is_directive)


def test_a_secret_is_cold_whoever_vouches_for_it_p19() -> None:
    for origin, pinned, promoted in itertools.product(Origin, (True, False), (None, "person")):
        meta = evolve(PLAIN, origin=origin, pinned=pinned, promoted_by=promoted, sensitivity=Sensitivity.SECRET)
        assert best_tier(meta, is_directive=False) is Tier.COLD
        assert why_not_nearer(meta, is_directive=False) == "it is secret"


def test_an_order_hides_neither_in_the_title_nor_in_the_description_nor_behind_its_kind_p19() -> None:
    assert not is_directive_entry(PLAIN, "The server listens on 8080.")
    assert is_directive_entry(PLAIN, "Run `make lint` before each commit.")
    assert is_directive_entry(evolve(PLAIN, title="Always deploy from main"), "How it is done.")
    assert is_directive_entry(evolve(PLAIN, description="Never run the linter."), "How it is done.")
    assert is_directive_entry(evolve(PLAIN, kind=Kind.CONVENTION), "Tabs.")
