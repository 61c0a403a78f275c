"""The tier list between two tierings."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.entry import Meta, standing_tiers
from agent_memory.domain.vocabulary import Sensitivity, TierList

PLAIN = Meta("plain", "t", 1, 1)
PINNED = Meta("pinned", "t", 9, 9, pinned=True)
PROMOTED = Meta("promoted", "t", 5, 5, promoted_by="person")
SECRET = evolve(PINNED, id="secret", sensitivity=Sensitivity.SECRET, promoted_by="person")


def test_what_a_person_vouches_for_is_hot_without_a_tiering_p13() -> None:
    live = [PLAIN, PINNED, PROMOTED, SECRET]
    assert standing_tiers(TierList(), live) == TierList(("promoted", "pinned"))
    assert standing_tiers(TierList(("plain",)), live) == TierList(("plain", "promoted", "pinned"))


def test_defrag_may_have_put_a_promoted_one_elsewhere_but_no_pinned_one_p13() -> None:
    tiers = TierList((), ("promoted", "pinned", "plain"))
    assert standing_tiers(tiers, [PLAIN, PINNED, PROMOTED]) == TierList(("pinned",), ("promoted", "plain"))


def test_what_is_made_hot_comes_first_and_what_is_hot_stays_where_it_is() -> None:
    tiers = TierList(("a", "b"), ("c",))
    assert tiers.with_hot("b") == tiers
    assert tiers.with_hot("c") == TierList(("c", "a", "b"), ())
    assert tiers.with_hot("d") == TierList(("d", "a", "b"), ("c",))


def test_what_is_archived_is_in_no_tier() -> None:
    assert TierList(("a", "b"), ("c",)).without({"a"}) == TierList(("b",), ("c",))
    assert TierList(("a", "b"), ("c",)).without({"c"}) == TierList(("a", "b"), ())
