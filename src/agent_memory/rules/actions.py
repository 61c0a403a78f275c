"""What a defrag reply proposes, and what of it will be written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from agent_memory.note.note import Listed, StoredEntry, Usage
from agent_memory.note.vocabulary import Status, TierList
from agent_memory.rules.change import Change, Dropped
from agent_memory.text.ids import EntryId
from agent_memory.text.plain_text import Words


@frozen
class Merge:
    """Several entries become one new one."""

    ids: tuple[EntryId, ...]
    title: Words
    body: Words
    description: str | None = None
    tags: tuple[str, ...] = ()
    """Added to the united tags of the sources."""
    drops: tuple[str, ...] = ()


@frozen
class SplitPart:
    """One of the new entries that an entry is divided into."""

    title: Words
    body: Words
    description: str | None = None
    tags: tuple[str, ...] = ()
    """Those of the source where there are none."""


@frozen
class Split:
    """One entry becomes several new ones."""

    id: EntryId
    into: tuple[SplitPart, ...]


@frozen
class Rename:
    """An entry gets another title."""

    id: EntryId
    title: Words
    drops: tuple[str, ...] = ()


@frozen
class Retag:
    """An entry gets other tags."""

    id: EntryId
    tags: tuple[str, ...]


@frozen
class Edit:
    """A passage that occurs exactly once in an entry's body is replaced."""

    id: EntryId
    find: Words
    replace: str
    drops: tuple[str, ...] = ()


@frozen
class Archive:
    """An entry leaves the live set."""

    id: EntryId
    reason: Words


Action = Merge | Split | Rename | Retag | Edit | Archive

KINDS: Mapping[type, str] = {
    Merge: "merge",
    Split: "split",
    Rename: "rename",
    Retag: "retag",
    Edit: "edit",
    Archive: "archive",
}
"""The word of each class of action in the envelope."""


@frozen
class DefragProposal:
    """A defrag reply. `dropped` are the items that were not of the contract's shape; without `tiers` they stay."""

    actions: tuple[Action, ...] = ()
    tiers: TierList | None = None
    dropped: tuple[Dropped, ...] = ()


@frozen
class Due:
    """Archivings that a defrag carries out whatever an agent proposes, and also where none answers."""

    expired: tuple[Archive, ...] = ()
    """The longest expired first."""
    surplus: tuple[Archive, ...] = ()
    """The least valuable first: as many entries have to go, by these or by other actions."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in (*self.expired, *self.surplus))


def ids_of(action: Action) -> tuple[str, ...]:
    return action.ids if isinstance(action, Merge) else (action.id,)


def kind_of(action: Action) -> str:
    return KINDS[type(action)]


def fingerprint_of(action: Action, hashes: Mapping[str, str]) -> str:
    """What makes two actions the same for undo: the kind and the inputs, byte for byte; not the words of the result."""
    inputs = sorted(f"{id} {hashes.get(id, '')}" for id in set(ids_of(action)))
    return hashlib.sha256("\n".join((kind_of(action), *inputs)).encode()).hexdigest()[:32]


@frozen
class PlannedAction:
    """One action with the changes that carry it out: all of them, or none (`change.Together`)."""

    action: Action
    changes: tuple[Change, ...]
    fingerprint: str
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
    """As the agent saw them in the catalog."""
    taken_ids: frozenset[str]
    """Every id that is not free, casefolded: live, aliases, archived."""
    shown: Mapping[str, StoredEntry]
    status: Status
    """`captured` for the built-in, `consolidated` for an agent command."""
    now_ms: int
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    left_alone: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()
    live_at_start: int = 0
    force: bool = False
    """A person lifts the limit on how much one run may change."""
    at_hand: Mapping[str, StoredEntry] = field(factory=dict[str, StoredEntry])
    """Entries as the store is now that an action names and that were not shown in full, by id: those of an action that an
    earlier run deferred, and those that are only renamed or retagged (`plan_defrag.ids_to_read`)."""
