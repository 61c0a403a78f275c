"""What is kept beside the notes: reads, values by key, tags, tombstones, what analyses noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from returns.result import Result

    from agent_memory.domain.analysis.compared import Compared
    from agent_memory.domain.analysis.gathered import Gathered
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


class NoticedNotes(Protocol):
    """What the last analysis noticed in the notes, and what it compared. Derived."""

    def recall(self) -> Gathered:
        """What was noticed; of no note where that is not known."""
        ...

    def keep(self, gathered: Gathered) -> None:
        """Remember it instead of what was there."""
        ...


class KeptComparisons(Protocol):
    """What comparing the notes of a store with each other found. Derived."""

    def recall(self, key: str) -> Compared | None:
        """What was found in the notes that this key stands for (`analysis.compared.comparison_key`); None where that is not
        known."""
        ...

    def keep(self, key: str, compared: Compared | None) -> None:
        """Remember it. What was found before may go, and what was found in other notes goes: one of them may be secret by now.
        None is for what may not be kept (`analysis.compared.may_be_kept`): then nothing stays."""
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
