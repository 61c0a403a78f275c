"""What is kept beside the notes: reads, values by key, tags, tombstones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from returns.result import Result

    from agent_memory.domain.entry import Usage
    from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone
    from agent_memory.domain.state_value import StateValue
    from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
    from agent_memory.domain.usage import DayReads
    from agent_memory.domain.vocabulary import Harness
    from agent_memory.errors import Error


class UsageLedger(Protocol):
    """Reads, append-only (exact under concurrency)."""

    def append(self, id: str, at_ms: int, reader: str) -> Result[None, Error]:
        """Record one read by `reader` (a harness or `manual`)."""
        ...

    def adopt(self, id: str, usage: Usage) -> Result[None, Error]:
        """Take the reads that an imported or hand-written entry brought along as its base, unless the ledgers know the id
        already. They count once, however many do this at the same time."""
        ...

    def totals(self) -> Result[Mapping[str, Usage], Error]:
        """Reads of each id, over all hosts."""
        ...

    def day_reads(self) -> Result[tuple[DayReads, ...], Error]:
        """How often each reader read on each UTC day, over all hosts, by day and reader."""
        ...


class StateKeys(Protocol):
    """Small values by key, which programs overwrite. The caller holds the write lock where it changes something."""

    def get(self, key: str) -> Result[StateValue | None, Error]:
        """What is kept under a key; None for nothing. What is damaged is an error, never None (P6)."""
        ...

    def put(self, value: StateValue) -> Result[str, Error]:
        """Replace what its key holds, durably; the path of its file, relative to the root."""
        ...

    def delete(self, key: str) -> Result[str, Error]:
        """Remove the key, durably; one that is not there counts as removed. The path that its file had."""
        ...

    def all(self) -> Iterator[Result[StateValue, Error]]:
        """Everything that is kept; what is damaged is an error among it, never left out (P6)."""
        ...


class KeptVocabulary(Protocol):
    """The vocabulary of tags. The caller holds the write lock where it changes it."""

    def get(self) -> Result[TagVocabulary, Error]:
        """The vocabulary; an empty one where there is none yet. A damaged one is an error, never empty (P6)."""
        ...

    def put(self, vocabulary: TagVocabulary) -> Result[str, Error]:
        """Replace it, durably; the path of its file, relative to the root."""
        ...


class Tombstones(Protocol):
    """What was forgotten, and is not to be learnt again (P28)."""

    def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]:
        """The session's tombstone; None where it was not forgotten. A damaged one is an error, never None (P6)."""
        ...

    def of_entries(self) -> Result[tuple[EntryTombstone, ...], Error]:
        """The tombstones of all notes."""
        ...

    def put(self, tombstone: SessionTombstone | EntryTombstone | StateTombstone) -> Result[None, Error]:
        """Make it durable; that of the same session or note is replaced."""
        ...
