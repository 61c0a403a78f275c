"""What the built-in proposes for a store."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from attrs import asdict, evolve, frozen
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import (
    Harness,
    Importance,
    Kind,
    MemoryEntry,
    Origin,
    Sensitivity,
    Source,
    Status,
    StoredEntry,
    Tier,
    TierList,
    Usage,
)
from agent_memory.rules.analyze import analyze
from agent_memory.rules.change import SectionBudget, max_changes
from agent_memory.rules.features import AnalysisFacts
from agent_memory.rules.findings import Finding, FindingKind
from agent_memory.rules.plan import Archive, DefragFacts, DefragPlan, Merge, fingerprint_of, ids_of
from agent_memory.rules.plan_defrag import plan_defrag
from agent_memory.rules.tidied import chosen_tiers, due_archivings, surplus, tidied
from agent_memory.rules.tiers import resolve_tiers, tier_facts, tiers_after
from defrag_requests import DAY_MS, NOW_MS, request_of, stored

FILLERS = tuple(stored(f"Note {number}", f"Thing {number} stands on shelf {number}.") for number in range(12))


def test_what_a_person_has_undone_is_not_proposed_again() -> None:
    twin = stored("Shelf", FILLERS[0].body)
    request = request_of((*FILLERS, twin))
    (action,) = tidied(request).actions
    undone = fingerprint_of(action, {each.meta.id: each.content_hash for each in request.live})
    assert tidied(request_of((*FILLERS, twin), undone=frozenset({undone}))).actions == ()


def test_what_is_over_a_cap_is_due_with_the_reason_and_in_no_tier() -> None:
    least = FILLERS[3].meta.id
    over = Finding(FindingKind.SURPLUS, (least,), "limits.maxEntries is 11")
    request = request_of(FILLERS, [over])
    assert due_archivings(request.live, request.analysis, NOW_MS).surplus == (
        Archive(least, "limits.maxEntries is 11"),
    )
    tiers = tidied(request).tiers
    assert tiers is not None
    assert least not in (*tiers.hot, *tiers.warm)
    assert FILLERS[4].meta.id in (*tiers.hot, *tiers.warm), "positive control"


STORES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 6), st.booleans(), st.sampled_from((None, -2, 0, 3))), max_size=20
).map(
    lambda drawn: {
        entry.meta.id: entry
        for title, body, pinned, days in drawn
        for entry in [
            stored(
                f"Title {title}",
                f"Body number {body} says something.",
                pinned=pinned,
                expires_at_ms=None if days is None else NOW_MS + days * DAY_MS,
            )
        ]
    }
)


@settings(max_examples=60)
@given(STORES, st.randoms(use_true_random=False))
def test_the_order_does_not_matter_and_no_limit_is_passed(entries: dict[str, StoredEntry], random: Random) -> None:
    """P13, P14"""
    one = list(entries.values())
    other = list(one)
    random.shuffle(other)
    proposal = tidied(request_of(one))
    assert tidied(request_of(other)) == proposal
    touched = [id for action in proposal.actions for id in ids_of(action)]
    assert len(touched) == len(set(touched)) <= max_changes(len(one))
    assert not any(entries[id].meta.pinned for id in touched)
    left = len(one) - len(touched) + sum(isinstance(action, Merge) for action in proposal.actions)
    assert left > 0 or not one


# -- what is over the caps of a store ----------------------------------------------------------------------------------


NOTES = tuple(stored(f"Note {number}", "x" * 100, at_ms=NOW_MS - number * 40 * DAY_MS) for number in range(8))


def over(
    notes: tuple[StoredEntry, ...],
    max_entries: int | None = None,
    max_chars: int | None = None,
    usage: dict[str, Usage] | None = None,
    by_kind: dict[str, int] | None = None,
) -> list[str]:
    request = request_of(notes)
    findings = surplus(
        request.live,
        request.analysis.body_chars,
        usage or {},
        max_entries=max_entries,
        max_chars=max_chars,
        max_by_kind=by_kind or {},
        now_ms=NOW_MS,
    )
    titles = {each.meta.id: each.meta.title for each in notes}
    assert all(each.kind is FindingKind.SURPLUS for each in findings)
    return [titles[each.ids[0]] for each in findings]


def test_without_a_cap_or_within_it_nothing_has_to_go() -> None:
    assert over(NOTES) == over(NOTES, 8) == over(NOTES, None, 800) == over((), 1) == []


def test_the_oldest_go_first_where_all_matter_alike() -> None:
    assert over(NOTES, 6) == ["Note 7", "Note 6"]
    assert over(NOTES, None, 650) == ["Note 7", "Note 6"]


def test_a_kind_over_its_cap_loses_its_own_and_what_goes_counts_for_the_whole() -> None:
    tasks = tuple(stored(f"Task {number}", kind=Kind.TASK, at_ms=NOW_MS - number * DAY_MS) for number in range(3))
    assert over((*NOTES, *tasks), by_kind={"task": 2}) == over((*NOTES, *tasks), 10, by_kind={"task": 2}) == ["Task 2"]
    assert over((*NOTES, *tasks), 9, by_kind={"task": 2}) == ["Task 2", "Note 7"]
    assert over((*NOTES, *tasks), by_kind={"task": 3, "lesson": 1}) == []


def test_what_is_read_stays_before_what_is_not() -> None:
    usage = {NOTES[7].meta.id: Usage(9, NOW_MS)}
    assert over(NOTES, 7, usage=usage) == ["Note 6"]


def test_a_decision_of_the_person_outlives_what_agents_noted_later() -> None:
    decided = stored("Decided", origin=Origin.USER, kind=Kind.DECISION, at_ms=NOW_MS - 400 * DAY_MS)
    trifle = stored("Trifle", origin=Origin.AGENT, importance=Importance.HIGH, at_ms=NOW_MS)
    passing = stored("Passing", origin=Origin.USER, kind=Kind.HANDOFF, at_ms=NOW_MS - 500 * DAY_MS)
    assert over((decided, trifle, passing), 1) == ["Passing", "Trifle"]


def test_pinned_promoted_secret_and_conflicted_entries_never_have_to_go_p13() -> None:
    kept = (
        stored("Pinned", pinned=True, importance=Importance.LOW),
        stored("Promoted", promoted_by="person", importance=Importance.LOW),
        stored("Secret", sensitivity=Sensitivity.SECRET, importance=Importance.LOW),
        stored("Conflicted", conflicted=True, importance=Importance.LOW),
    )
    assert over(kept, 1) == []
    assert over((*kept, NOTES[0]), 1) == ["Note 0"]


def test_no_more_has_to_go_than_one_run_may_archive_p14() -> None:
    many = tuple(stored(f"Note {number}") for number in range(40))
    assert len(over(many, 1)) == max_changes(40) == 10


# -- what the built-in would put in front of every agent ---------------------------------------------------------------


AGENT_SAID, PAGE_SAID = {"origin": Origin.AGENT}, {"origin": Origin.EXTERNAL}
HIGH, PROMOTED = {"importance": Importance.HIGH}, {"promoted_by": "person"}


@pytest.mark.parametrize(
    ("kind", "fields", "reads", "tier"),
    [
        # what a person said that lasts is in front; a fact once it is read again and again
        *((kind, {}, 0, Tier.HOT) for kind in (Kind.PREFERENCE, Kind.CONVENTION, Kind.DECISION, Kind.LESSON, Kind.PROJECT)),
        *((Kind.FACT, {}, reads, tier) for reads, tier in ((0, Tier.WARM), (2, Tier.WARM), (3, Tier.HOT))),
        # what is over soon gets a line unless it is pinned
        *((kind, HIGH, 0, Tier.WARM) for kind in (Kind.TASK, Kind.HANDOFF)),
        *((kind, {**HIGH, **PROMOTED, "pinned": True}, 0, Tier.HOT) for kind in (Kind.TASK, Kind.HANDOFF)),
        # what nobody may be shown unasked is in no tier
        (Kind.LESSON, PAGE_SAID, 0, Tier.COLD),
        (Kind.LESSON, {**PAGE_SAID, **PROMOTED}, 0, Tier.HOT),
        (Kind.LESSON, {"sensitivity": Sensitivity.SECRET, "pinned": True}, 0, Tier.COLD),
        # what an agent concluded gets a line until a person vouches for it
        *((Kind.LESSON, {**AGENT_SAID, **more}, reads, Tier.WARM) for more, reads in (({}, 0), ({}, 3), (HIGH, 0))),
        (Kind.LESSON, {**AGENT_SAID, **PROMOTED}, 0, Tier.HOT),
    ],
)  # fmt: skip
def test_what_a_note_is_and_whose_it_is_decides_on_its_tier_p19(
    kind: Kind, fields: dict[str, Any], reads: int, tier: Tier
) -> None:
    for body in ("Builds take a minute.", "Always run `make clean` first."):
        note = stored("Builds", body, kind=kind, **fields)
        request = request_of((note,), usage={note.meta.id: Usage(reads, NOW_MS)})
        assert chosen_tiers(request, ()).of(note.meta.id) is tier


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


# -- the proposals pass the plan check, and a second run finds nothing more to do --------------------------------------


BUDGET = SectionBudget(700, 4)


@frozen
class State:
    """A store in memory, with its tiers."""

    live: dict[str, StoredEntry]
    tiers: TierList = TierList()
    archived: tuple[str, ...] = ("id__c3d4e5",)


def state_of(entries: Iterable[StoredEntry]) -> State:
    return State({each.meta.id: each for each in entries})


def stored_as(entry: MemoryEntry) -> StoredEntry:
    meta = {name: value for name, value in asdict(entry.meta, recurse=False).items() if name != "title"}
    return stored(entry.meta.title, entry.body, **meta)


def run(state: State) -> tuple[State, DefragPlan]:
    """One run of the built-in, as the pipeline makes it."""
    entries = tuple(state.live.values())
    taken = frozenset(id.casefold() for each in entries for id in (each.meta.id, *each.meta.aliases))
    taken |= {id.casefold() for id in state.archived}
    analysis = analyze(entries, AnalysisFacts(usage={}, now_ms=NOW_MS, taken_ids=taken))
    request = evolve(request_of(entries), analysis=analysis, tiers=state.tiers, budget=BUDGET)
    proposal = tidied(request)
    plan = plan_defrag(
        proposal,
        DefragFacts(
            live=request.live,
            taken_ids=taken,
            shown=dict(state.live),
            status=Status.CAPTURED,
            now_ms=NOW_MS,
            live_at_start=len(entries),
        ),
        due=due_archivings(request.live, analysis, NOW_MS),
    )
    live = dict(state.live)
    gone: list[str] = []
    for change in (change for action in plan.actions for change in action.changes):
        if change.entry is None:
            del live[change.id]
            gone.append(change.id)
        else:
            live[change.id] = stored_as(change.entry)
    body_chars = analyze(live.values(), AnalysisFacts(usage={}, now_ms=NOW_MS, taken_ids=taken)).body_chars
    facts = {
        id: tier_facts(each.meta, body_chars[id], Usage(each.meta.used, each.meta.last_used_at_ms), NOW_MS)
        for id, each in live.items()
    }
    proposed = None if proposal.tiers is None else tiers_after(proposal.tiers, plan)
    tiers = resolve_tiers(proposed, tiers_after(state.tiers, plan), facts, BUDGET).tiers
    return State(live, tiers, (*state.archived, *gone)), plan


def settled(state: State) -> tuple[State, list[DefragPlan]]:
    """After as many runs as it takes until one does nothing."""
    plans = []
    for _ in range(40):
        state, plan = run(state)
        plans.append(plan)
        if not plan.actions:
            return state, plans
    raise AssertionError("it goes on for ever")


SOURCES = st.sampled_from(((), (Source(Harness.AMP, "T-1", turns=(2,)),), (Source(Harness.CODEX, "c-1"),)))
BODIES = (
    "The staging database is reset every Sunday night.",
    "Never push to `main` without a review.",
    "We chose SQLite because the box has no network.\n\n- one file\n- no server",
    "The root cause was a default of 0 in `ShutdownTimeout`, which waits forever.",
    "`pnpm install --frozen-lockfile` is what CI runs.",
)
ENTRIES = st.lists(
    st.builds(
        lambda number, body, links, days, fields: stored(
            f"Title {number}",
            f"{body}{links}",
            at_ms=NOW_MS - days * DAY_MS,
            pinned=fields["promoted_by"] == "pin",
            **{**fields, "promoted_by": "person" if fields["promoted_by"] == "pin" else fields["promoted_by"]},
        ),
        st.integers(0, 40),
        st.sampled_from(BODIES),
        st.sampled_from(("", "\n", "  ", "\n\nSee also: [[id__c3d4e5]]")),
        st.integers(0, 90),
        st.fixed_dictionaries(
            {
                "origin": st.sampled_from(Origin),
                "kind": st.sampled_from(Kind),
                "importance": st.sampled_from(Importance),
                "sources": SOURCES,
                "promoted_by": st.sampled_from((None, None, None, "person", "pin")),
                "scope": st.sampled_from(("global", "github.com/acme/shop")),
                "sensitivity": st.sampled_from((Sensitivity.NORMAL, Sensitivity.NORMAL, Sensitivity.PRIVATE)),
                "expires_at_ms": st.sampled_from((None, None, NOW_MS - DAY_MS, NOW_MS + DAY_MS)),
            }
        ),
    ),
    max_size=14,
    unique_by=lambda each: each.meta.id,
)


@settings(max_examples=60)
@given(ENTRIES)
def test_every_action_passes_the_check_and_a_settled_store_stays_as_it_is(entries: list[StoredEntry]) -> None:
    """P12, P13: what the built-in proposes is never refused, and ends."""
    first = state_of(entries)
    state, plans = settled(first)
    assert [each for plan in plans for each in plan.dropped] == []
    assert all(not plan.deferred for plan in plans)
    again, plan = run(state)
    assert (plan.actions, again.live) == ((), state.live)
    assert run(again)[0].tiers == again.tiers
    for id, entry in first.live.items():
        heirs = [each for each in state.live.values() if id in (each.meta.id, *each.meta.aliases)]
        assert heirs or id in state.archived
        if entry.meta.pinned:
            assert state.live[id] == entry
