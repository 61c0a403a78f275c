"""Stored entries and facts for tests of defrag plans."""

from __future__ import annotations

from typing import Any

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Listed, MemoryEntry, Meta, Origin, Status, StoredEntry, body_hash
from agent_memory.rules.change import entries_written
from agent_memory.rules.plan import Action, Deferred, DefragFacts, DefragPlan, DefragProposal
from agent_memory.rules.plan_defrag import plan_defrag

REPO = "github.com/acme/web"
LONG_AGO = 1_700_000_000_000
NOW = 1_770_984_000_000


def note(letter: str, title: str, body: str, *, conflicted: bool = False, provisional: bool = False, **meta: Any) -> StoredEntry:  # fmt: skip
    """A live entry whose id is `id__` and six times the letter."""
    known = {"origin": Origin.AGENT, "scope": REPO, "tags": ("topic__web",), "status": Status.CONSOLIDATED}
    full = Meta(f"id__{letter * 6}", title, LONG_AGO, LONG_AGO, **{**known, **meta})
    listed = Listed(
        full,
        f"topics/{file_name_of(full)}",
        f"hash of {full.id}",
        conflicted=conflicted,
        provisional_id=provisional,
        body_hash=body_hash(body),
    )
    return StoredEntry(listed, body)


def facts_of(*shown: StoredEntry, hidden: tuple[StoredEntry, ...] = (), **more: Any) -> DefragFacts:
    """A store with these entries; the hidden ones are in the catalog only. It is large enough for 5 changes."""
    entries = shown + hidden
    ids = [id for each in entries for id in (each.meta.id, *each.meta.aliases)]
    known = {
        "live": tuple(each.listed for each in entries),
        "taken_ids": frozenset(id.casefold() for id in ids),
        "shown": {each.meta.id: each for each in shown},
        "status": Status.CONSOLIDATED,
        "now_ms": NOW,
        "live_at_start": max(len(entries), 20),
    }
    return DefragFacts(**{**known, **more})


def planned(facts: DefragFacts, *actions: Action, deferred: tuple[Deferred, ...] = ()) -> DefragPlan:
    """The plan of these actions."""
    return plan_defrag(DefragProposal(actions), facts, deferred)


def written(plan: DefragPlan) -> list[MemoryEntry]:
    """The entries that the plan writes, each once, in order."""
    changes = (change for action in plan.actions for change in action.changes)
    return list(entries_written(changes).values())


def retired(plan: DefragPlan) -> list[str]:
    """The ids that the plan archives, in order."""
    return [change.id for action in plan.actions for change in action.changes if change.act == "retire"]


def reasons(plan: DefragPlan) -> str:
    """All that was dropped, in words."""
    return "; ".join(f"{each.subject}: {reason}" for each in plan.dropped for reason in each.reasons)
