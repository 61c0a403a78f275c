"""Replaced and superseded entries of one window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from returns.result import Failure, Success

from agent_memory.domain.change import Dropped, Replace, Retire
from agent_memory.domain.change_set import ProposedUpdate
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.entry_updates import updated, with_links
from agent_memory.domain.planning.linking import Targets
from agent_memory.domain.planning.new_entries import Draft
from agent_memory.domain.planning.plan_targets import unlinked
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.domain.planning.protection import protection
from agent_memory.domain.planning.provenance import ended_at_ms
from agent_memory.domain.results import sealed
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind

_ONCE = ("an entry is replaced or archived once",)


def update_entries(
    updates: Iterable[ProposedUpdate], facts: PlanFacts, so_far: Plan, targets: Targets, gone: frozenset[str]
) -> Plan:
    """The updates as changes. `gone` are the ids that this reply archives: an entry is replaced or archived once."""
    changes: list[Replace] = []
    dropped: list[Dropped] = []
    done = set(gone)
    for update in updates:
        problems = protection(update.id, facts, so_far) or (_ONCE if update.id in done else ())
        if problems:
            dropped.append(Dropped(update.id, problems))
            continue
        old = _current(update.id, facts, so_far)
        match sealed(updated(old, update, facts, freely=_is_own_handoff(old, facts, so_far))):
            case Success(new):
                entry, linked = with_links(new, old, targets)
                changes.append(Replace(entry, facts.shown[update.id].listed.content_hash))
                dropped += unlinked(update.id, linked.unknown)
                done.add(update.id)
            case Failure(reasons):
                dropped.append(Dropped(update.id, reasons))
    return Plan(tuple(changes), tuple(dropped))


def supersede(drafts: tuple[Draft, ...], facts: PlanFacts, so_far: Plan) -> tuple[Plan, Mapping[str, tuple[str, ...]]]:
    """The retirement of what the drafts may take the place of, and by successor which entries these are."""
    changes: list[Retire] = []
    dropped: list[Dropped] = []
    successors: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for draft in drafts:
        for id in dict.fromkeys(draft.proposed.supersedes):
            problems = protection(id, facts, so_far) or (_ONCE if id in done else ())
            problems = problems or _no_successor(facts.shown[id], draft, facts, so_far)
            if problems:
                dropped.append(Dropped(id, tuple(f"not superseded: {problem}" for problem in problems)))
                continue
            old = facts.shown[id]
            until_ms = max(draft.meta.created_at_ms, old.meta.valid_from_ms or old.meta.created_at_ms)
            changes.append(Retire(id, old.listed.content_hash, until_ms))
            successors[draft.meta.id] = (*successors.get(draft.meta.id, ()), id)
            done.add(id)
    return Plan(tuple(changes), tuple(dropped)), successors


def _no_successor(old: StoredEntry, draft: Draft, facts: PlanFacts, so_far: Plan) -> tuple[str, ...]:
    if old.meta.id in planned_entries(so_far):
        return ("this session wrote it just before: update it instead",)
    if ended_at_ms(facts) < old.meta.created_at_ms:
        return ("it is newer than this session",)
    if GLOBAL_SCOPE not in (old.meta.scope, draft.meta.scope) and old.meta.scope != draft.meta.scope:
        return ("it belongs to another repository",)
    return ()


def _current(id: str, facts: PlanFacts, so_far: Plan) -> MemoryEntry:
    return planned_entries(so_far).get(id) or facts.shown[id].entry


def _is_own_handoff(entry: MemoryEntry, facts: PlanFacts, so_far: Plan) -> bool:
    is_own = entry.meta.id == facts.handoff_id or entry.meta.id in planned_entries(so_far)
    return is_own and entry.meta.kind is Kind.HANDOFF
