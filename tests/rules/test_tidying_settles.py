"""The built-in's proposals pass the plan check, and a second run finds nothing more to do."""

from __future__ import annotations

from collections.abc import Iterable

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
    TierList,
    Usage,
)
from agent_memory.rules.analyze import analyze
from agent_memory.rules.change import SectionBudget
from agent_memory.rules.features import AnalysisFacts
from agent_memory.rules.plan import DefragFacts, DefragPlan
from agent_memory.rules.plan_defrag import plan_defrag
from agent_memory.rules.tidied import due_archivings, tidied
from agent_memory.rules.tiers import resolve_tiers, tier_facts, tiers_after
from defrag_requests import DAY_MS, NOW_MS, request_of, stored

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
