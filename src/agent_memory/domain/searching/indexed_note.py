"""What the index knows of a note, beside its words. Numbers are the index's own: they mean nothing after a rebuild."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from agent_memory.domain.entry import Listed


@frozen
class IndexedNote:
    """One note."""

    number: int
    listed: Listed
    terms: tuple[int, int, int, int]
    """Terms in each of `matching.FIELDS`, stop words left out: the lengths that scores are normed by."""


@frozen
class Place:
    """Where a note comes from: one turn of a session."""

    number: int
    session: str
    turn: int | None
    """Numbered from 1; None where the note names the session alone."""


@frozen
class NearNote:
    """A note that comes from a turn near to that of another."""

    number: int
    distance: int
    """Turns from the one to the other: below 0 where the near one was earlier; never 0 for one and the same note."""


class Relation(StrEnum):
    """How one note refers to another."""

    LINKS = "links"
    SUPERSEDES = "supersedes"


@frozen
class NoteLink:
    """One note refers to another; both are in the index, the target by its id or an alias."""

    source: int
    target: int
    relation: Relation


@frozen
class Refreshed:
    """How the index stands to the files."""

    notes: int
    """Notes in it."""
    read: int = 0
    """Files that were read just now."""
    removed: int = 0
    pending: int = 0
    """Files known to have changed that are not in it yet: time was up, or another process is at work on it."""
    unreadable: int = 0
    """Files that could not be read just now, and are left out; they are tried again each time."""
    notices: tuple[str, ...] = ()
    """What whoever asks should know, a sentence each."""


@frozen
class Vectors:
    """Vectors of one model, one a note, in the order of `numbers`."""

    numbers: Sequence[int]
    rows: Sequence[bytes]
