"""What a plan is made from, where a test says only what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_memory.note.note import Status, StoredEntry
from agent_memory.rules.plan import PlanFacts
from agent_memory.session.history import History
from agent_memory.session.queue import InboxEntry


def facts_of(
    entry: InboxEntry,
    window: History,
    scope: str,
    shown: Sequence[StoredEntry],
    live: Sequence[StoredEntry] = (),
    /,
    **more: Any,
) -> PlanFacts:
    """Those of a window at the time of the entry: what was shown to the agent, and what else is live."""
    everything = (*shown, *live)
    known: dict[str, Any] = {
        "entry": entry,
        "window": window,
        "scope": scope,
        "live": tuple(each.listed for each in everything),
        "taken_ids": frozenset(each.meta.id.casefold() for each in everything),
        "shown": {each.meta.id: each for each in shown},
        "status": Status.CONSOLIDATED,
        "now_ms": entry.at_ms,
        "live_at_start": len(everything),
    }
    return PlanFacts(**{**known, **more})
