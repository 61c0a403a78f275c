"""A parsed reply: what the agent proposes. Nothing here has been checked against the store."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from agent_memory.domain.change import Dropped
from agent_memory.domain.vocabulary import Importance, Kind


@frozen
class ProposedEntry:
    """A new entry. `links` and `[[…]]` in `body` hold `id__…` or `ref:…` of the same reply."""

    title: str
    body: str
    kind: Kind
    tags: tuple[str, ...]
    ref: str | None = None
    description: str | None = None
    scope: Literal["repo", "global"] | None = None
    importance: Importance | None = None
    confidence: float | None = None
    turns: tuple[int, ...] = ()
    links: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()


@frozen
class ProposedUpdate:
    """A change of a live entry that was shown in full; what is None stays as it is."""

    id: str
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    body: str | None = None
    drops: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    why: str = ""


@frozen
class ChangeSet:
    """A consolidate reply. `dropped` are the items that were not of the contract's shape."""

    entries: tuple[ProposedEntry, ...] = ()
    updates: tuple[ProposedUpdate, ...] = ()
    skipped: str | None = None
    dropped: tuple[Dropped, ...] = ()
