"""What a defrag reply proposes: actions on entries, and tiers. Nothing here has been checked against the store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.change import Dropped
from agent_memory.domain.tiers import TierList


@frozen
class Merge:
    """Several entries become one new one."""

    ids: tuple[str, ...]
    title: str
    body: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    """Added to the united tags of the sources."""
    drops: tuple[str, ...] = ()


@frozen
class SplitPart:
    """One of the new entries that an entry is divided into."""

    title: str
    body: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    """Those of the source where there are none."""


@frozen
class Split:
    """One entry becomes several new ones."""

    id: str
    into: tuple[SplitPart, ...]


@frozen
class Rename:
    """An entry gets another title."""

    id: str
    title: str
    drops: tuple[str, ...] = ()


@frozen
class Retag:
    """An entry gets other tags."""

    id: str
    tags: tuple[str, ...]


@frozen
class Edit:
    """A passage that occurs exactly once in an entry's body is replaced."""

    id: str
    find: str
    replace: str
    drops: tuple[str, ...] = ()


@frozen
class Archive:
    """An entry leaves the live set."""

    id: str
    reason: str


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


def ids_of(action: Action) -> tuple[str, ...]:
    """The entries that an action changes."""
    return action.ids if isinstance(action, Merge) else (action.id,)


def kind_of(action: Action) -> str:
    """`merge`, `split`, `rename`, `retag`, `edit` or `archive`."""
    return KINDS[type(action)]


def fingerprint_of(action: Action, hashes: Mapping[str, str]) -> str:
    """What makes two actions the same for undo: the kind and the inputs, byte for byte; not the words of the result."""
    inputs = sorted(f"{id} {hashes.get(id, '')}" for id in set(ids_of(action)))
    return hashlib.sha256("\n".join((kind_of(action), *inputs)).encode()).hexdigest()[:32]
