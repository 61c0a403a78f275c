"""A defrag proposal once checked against the store: exactly what will be written, ids minted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from agent_memory.domain.actions import Action
from agent_memory.domain.change import Change, Dropped
from agent_memory.domain.entry import Listed, StoredEntry, Usage
from agent_memory.domain.vocabulary import Status


@frozen
class PlannedAction:
    """One action with the changes that carry it out: all of them, or none (`change.Together`)."""

    action: Action
    changes: tuple[Change, ...]
    fingerprint: str
    """See `actions.fingerprint_of`."""
    new_ids: tuple[str, ...] = ()
    """Of the entries that it creates, in order."""


@frozen
class Deferred:
    """An action over the run's limit, with the content hashes of its entries as the agent was shown them."""

    action: Action
    hashes: Mapping[str, str]


@frozen
class DefragPlan:
    """What one defrag does to the entries. Stored before it is applied, so that a replay writes the same bytes."""

    actions: tuple[PlannedAction, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    deferred: tuple[Deferred, ...] = ()


@frozen
class DefragFacts:
    """All that checking a defrag proposal may depend on."""

    live: Sequence[Listed]
    """Every live entry as the store is now."""
    taken_ids: frozenset[str]
    """Every id that is not free, casefolded: live, aliases, archived."""
    shown: Mapping[str, StoredEntry]
    """The entries that the agent was shown in full, as it saw them, by id."""
    hashes: Mapping[str, str]
    """Content hash of each entry of the catalog as the agent saw it, by id."""
    status: Status
    """`captured` for the built-in, `consolidated` for an agent command."""
    now_ms: int
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    left_alone: frozenset[str] = frozenset()
    """Entries that changed in 3 of the last 10 runs."""
    undone: frozenset[str] = frozenset()
    """Fingerprints of actions that a person has undone."""
    live_at_start: int = 0
    """Number of live entries when the run began."""
    force: bool = False
    """A person lifts the limit on how much one run may change."""
    at_hand: Mapping[str, StoredEntry] = field(factory=dict[str, StoredEntry])
    """Entries as the store is now that an action names and that were not shown in full, by id: those of an action that an
    earlier run deferred, and those that are only renamed or retagged (`plan_defrag.ids_to_read`)."""
