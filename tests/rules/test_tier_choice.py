"""What the built-in would put in front of every agent."""

from __future__ import annotations

import pytest

from agent_memory.note.note import Importance, Kind, Origin, Sensitivity, StoredEntry, Tier, TierList, Usage
from agent_memory.rules.findings import Finding, FindingKind
from agent_memory.rules.plan import Merge
from agent_memory.rules.section import SectionBudget
from agent_memory.rules.tidied import chosen_tiers
from defrag_requests import DAY_MS, NOW_MS, request_of, stored

SHOP, LAMP = "github.com/acme/shop", "github.com/acme/lamp"


def tier_of(entry: StoredEntry, *others: StoredEntry, **fields: object) -> Tier:
    return chosen_tiers(request_of((entry, *others), **fields), ()).of(entry.meta.id)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Kind.PREFERENCE, Kind.CONVENTION, Kind.DECISION, Kind.LESSON, Kind.PROJECT])
def test_what_a_person_said_that_lasts_is_in_front(kind: Kind) -> None:
    assert tier_of(stored("We store money as integer cents", kind=kind)) is Tier.HOT


def test_a_fact_is_in_front_once_it_is_read_again_and_again() -> None:
    fact = stored("The staging host is lamp-3")
    assert tier_of(fact) is Tier.WARM
    assert tier_of(fact, usage={fact.meta.id: Usage(2, NOW_MS)}) is Tier.WARM
    assert tier_of(fact, usage={fact.meta.id: Usage(3, NOW_MS)}) is Tier.HOT


@pytest.mark.parametrize("kind", [Kind.TASK, Kind.HANDOFF])
def test_what_is_over_soon_gets_a_line_unless_it_is_pinned(kind: Kind) -> None:
    assert tier_of(stored("Finish the import", kind=kind, importance=Importance.HIGH)) is Tier.WARM
    assert tier_of(stored("Finish the import", kind=kind, pinned=True, promoted_by="person")) is Tier.HOT


def test_what_nobody_may_be_shown_unasked_is_in_no_tier_p19() -> None:
    order = "Always run `make clean` first."
    assert tier_of(stored("From a page", kind=Kind.LESSON, origin=Origin.EXTERNAL)) is Tier.COLD
    assert tier_of(stored("From a page", kind=Kind.LESSON, origin=Origin.EXTERNAL, promoted_by="person")) is Tier.HOT
    assert tier_of(stored("Builds", order, kind=Kind.LESSON, origin=Origin.AGENT)) is Tier.WARM
    assert tier_of(stored("Builds", order, kind=Kind.LESSON)) is Tier.HOT
    assert tier_of(stored("A key", sensitivity=Sensitivity.SECRET, pinned=True)) is Tier.COLD


def test_what_an_agent_concluded_gets_a_line_until_a_person_vouches_for_it_p19() -> None:
    lesson = stored("The cache was cold", kind=Kind.LESSON, origin=Origin.AGENT)
    assert tier_of(lesson) is Tier.WARM
    assert tier_of(lesson, usage={lesson.meta.id: Usage(3, NOW_MS)}) is Tier.WARM
    assert tier_of(stored("It", kind=Kind.LESSON, origin=Origin.AGENT, importance=Importance.HIGH)) is Tier.WARM
    assert tier_of(stored("It", kind=Kind.LESSON, origin=Origin.AGENT, promoted_by="person")) is Tier.HOT


def test_what_nobody_had_to_open_for_long_stays_in_front_while_there_is_room() -> None:
    old = stored("We use tabs", kind=Kind.DECISION, at_ms=NOW_MS - 400 * DAY_MS)
    new = stored("We use SQLite", kind=Kind.DECISION)
    stale = Finding(FindingKind.STALE, (old.meta.id,), "never read: 400 days, stale from 120 on")
    assert chosen_tiers(request_of((old, new), [stale]), ()).hot == (new.meta.id, old.meta.id)
    full = SectionBudget(430)
    third = stored("We use Postgres", kind=Kind.DECISION)
    fourth = stored("We use Redis", kind=Kind.DECISION)
    crowded = chosen_tiers(request_of((old, new, third, fourth), [stale], budget=full), ())
    assert len(crowded.hot) == 3
    assert crowded.warm == (old.meta.id,)


@pytest.mark.parametrize("kind", [FindingKind.CONTRADICTION, FindingKind.NEAR_DUPLICATE, FindingKind.DUPLICATE])
def test_of_two_that_contradict_or_repeat_each_other_one_is_in_front(kind: FindingKind) -> None:
    winner, loser = stored("The port is 9090", kind=Kind.DECISION), stored("The port is 8080", kind=Kind.DECISION)
    finding = Finding(kind, (winner.meta.id, loser.meta.id), "port 9090 and port 8080")
    tiers = chosen_tiers(request_of((winner, loser), [finding]), ())
    assert tiers == TierList((winner.meta.id,), (loser.meta.id,))


def test_what_is_pinned_comes_first_then_what_matters_then_the_newest() -> None:
    old = stored("Old", kind=Kind.LESSON, at_ms=NOW_MS - 9 * DAY_MS)
    new = stored("New", kind=Kind.LESSON, at_ms=NOW_MS - DAY_MS)
    matters = stored("Matters", kind=Kind.LESSON, importance=Importance.HIGH, at_ms=NOW_MS - 9 * DAY_MS)
    pinned = stored("Pinned", pinned=True, promoted_by="person", importance=Importance.LOW)
    tiers = chosen_tiers(request_of((old, new, matters, pinned)), ())
    assert tiers.hot == (pinned.meta.id, matters.meta.id, new.meta.id, old.meta.id)


def test_tiers_are_those_of_the_store_once_the_actions_are_done() -> None:
    first, twin, gone = (stored(f"Lesson {number}", kind=Kind.LESSON) for number in range(3))
    merges = (Merge((first.meta.id, twin.meta.id), "Lesson", first.body),)
    over = Finding(FindingKind.SURPLUS, (gone.meta.id,), "limits.maxEntries is 2")
    assert chosen_tiers(request_of((first, twin, gone), [over]), merges) == TierList((first.meta.id,))
