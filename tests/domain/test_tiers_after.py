"""The tier list once a plan is carried out."""

from __future__ import annotations

from agent_memory.domain.actions import (
    Action,
    Archive,
    DefragPlan,
    Edit,
    Merge,
    PlannedAction,
    Rename,
    Split,
    SplitPart,
)
from agent_memory.domain.tiering.resolve import tiers_after
from agent_memory.domain.vocabulary import TierList


def plan(*actions: tuple[Action, tuple[str, ...]]) -> DefragPlan:
    return DefragPlan(tuple(PlannedAction(action, (), "", new_ids) for action, new_ids in actions))


def test_a_merge_takes_the_first_place_of_its_sources_in_their_best_tier() -> None:
    merged = plan((Merge(("c", "a", "w"), "t", "b"), ("n",)))
    assert tiers_after(TierList(("x", "a", "y", "c"), ("w", "z")), merged) == TierList(("x", "n", "y"), ("z",))
    assert tiers_after(TierList(("x",), ("z", "w", "a")), merged) == TierList(("x",), ("z", "n"))


def test_the_parts_of_a_split_stand_side_by_side() -> None:
    parts = plan((Split("a", (SplitPart("1", "b"), SplitPart("2", "b"))), ("m", "n")))
    assert tiers_after(TierList(("x", "a", "y"), ("w",)), parts) == TierList(("x", "m", "n", "y"), ("w",))


def test_what_is_archived_is_gone_and_what_is_edited_stays() -> None:
    done = plan((Archive("a", "over"), ()), (Edit("b", "x", "y"), ()), (Rename("w", "t"), ()))
    assert tiers_after(TierList(("a", "b"), ("w",)), done) == TierList(("b",), ("w",))


def test_an_entry_that_goes_from_cold_brings_nothing_in() -> None:
    merged = plan((Merge(("c", "d"), "t", "b"), ("n",)))
    assert tiers_after(TierList(("a",), ("w",)), merged) == TierList(("a",), ("w",))
