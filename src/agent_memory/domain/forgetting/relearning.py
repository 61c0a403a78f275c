"""What a session would teach again although it was forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from agent_memory.domain.change import Dropped
from agent_memory.domain.change_set import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.forgetting.tombstone import EntryTombstone, forgotten_note
from agent_memory.domain.history import History

REASON = "it was forgotten (`memory forget`)"


def without_forgotten(
    change_set: ChangeSet,
    tombstones: Sequence[EntryTombstone],
    window: History,
    captured_at_ms: int,
    shown: Mapping[str, StoredEntry],
) -> ChangeSet:
    """The change set without what says again what a forgotten note said, and why as dropped items. The time of a proposal
    is that of its last cited turn, else that of the capture. With nothing left it says so as `skipped`."""
    if not tombstones:
        return change_set
    times = {turn.number: turn.at_ms for turn in window.turns}

    def forgotten(item: ProposedEntry | ProposedUpdate) -> bool:
        said = [at_ms for number in item.turns if (at_ms := times.get(number)) is not None]
        return (
            forgotten_note(tombstones, item.title or "", _added(item, shown), max(said, default=captured_at_ms))
            is not None
        )

    entries = tuple(each for each in change_set.entries if not forgotten(each))
    updates = tuple(each for each in change_set.updates if each.body is None or not forgotten(each))
    gone = [each for each in change_set.entries if each not in entries]
    gone_updates = [each for each in change_set.updates if each not in updates]
    dropped = (
        *(Dropped("a note", (REASON,)) for _ in gone),  # its title would be in the report for good
        *(Dropped(each.id, (REASON,)) for each in gone_updates),
    )
    if not dropped:
        return change_set
    skipped = change_set.skipped if entries or updates else "what it says was forgotten"
    return evolve(
        change_set, entries=entries, updates=updates, skipped=skipped, dropped=(*change_set.dropped, *dropped)
    )


def _added(item: ProposedEntry | ProposedUpdate, shown: Mapping[str, StoredEntry]) -> str:
    """The text that the proposal would add to the store."""
    if isinstance(item, ProposedEntry) or item.id not in shown:
        return item.body or ""
    before = set(shown[item.id].body.split("\n"))
    return "\n".join(line for line in (item.body or "").split("\n") if line not in before)
