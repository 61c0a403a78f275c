"""How much of the store one run may change (P14)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.plan import Plan

_ALWAYS_ALLOWED = 3
_SHARE = 4
"""One in four."""


def max_changes(live_at_start: int) -> int:
    """How many live entries one run may change or archive: a quarter of them, at least 3."""
    return max(_ALWAYS_ALLOWED, live_at_start // _SHARE)


@frozen
class Admitted:
    """Changes sorted by what the run may still do, in their order."""

    changes: tuple[Change, ...] = ()
    deferred: tuple[Change, ...] = ()
    changed: frozenset[str] = field(factory=frozenset[str])
    """Every id changed or archived in the run, with these changes."""


def admit(changes: Iterable[Change], changed_before: frozenset[str], live_at_start: int) -> Admitted:
    """The changes within the run's limit, and the rest, to be taken up again by the next run. New entries always pass.

    An id that the run has changed before counts once. What was deferred keeps its `expected_hash`: where the entry has
    changed meanwhile, the store drops it.
    """
    limit = max_changes(live_at_start)
    changed = set(changed_before)
    now: list[Change] = []
    later: list[Change] = []
    for change in changes:
        id = changed_id(change)
        if id is None or id in changed or len(changed) < limit:
            now.append(change)
            changed.update([id] if id else [])
        else:
            later.append(change)
    return Admitted(tuple(now), tuple(later), frozenset(changed))


def changed_id(change: Change) -> str | None:
    """The live entry that a change replaces or archives."""
    match change:
        case Replace(entry, _):
            return entry.meta.id
        case Retire(id, _, _):
            return id
        case Create() | Restore():
            return None


def changed_ids(plan: Plan) -> frozenset[str]:
    """The live entries that a plan replaces or archives."""
    return frozenset(id for id in map(changed_id, plan.changes) if id is not None)
