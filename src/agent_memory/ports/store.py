"""The notes, the locks that guard them, and who is told of finished writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from returns.result import Result

    from agent_memory.domain.change import Change, Receipt, Together
    from agent_memory.domain.entry import Listed, Listing, MemoryEntry, StoredEntry
    from agent_memory.domain.footprint import Footprint
    from agent_memory.domain.tiers import TierList
    from agent_memory.errors import Error


class Store(Protocol):
    """The notes on disk (P2, P5, P6, P8, P12, P15, P21)."""

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """Every live (or archived) entry, without bodies."""
        ...

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """The live entry with this id or alias; with `archived`, the newest archived version of it. Counts nothing."""
        ...

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        """An entry that was listed before, as it is now; looked for first where it was. Counts nothing."""
        ...

    def write(self, entry: MemoryEntry, expected_hash: str | None) -> Result[Receipt, Error]:
        """`Create` without a hash, `Replace` with one."""
        ...

    def delete(self, id: str) -> Result[Receipt, Error]:
        """Move the live entry to the archive."""
        ...

    def apply(
        self,
        changes: Sequence[Change | Together],
        *,
        tiers: TierList | None = None,
        run_id: str | None = None,
    ) -> Result[Receipt, Error]:
        """All changes as one transaction: all durable, or on an error none. A change whose entry's bytes are not the
        expected ones is dropped, the rest is applied (P8).

        `tiers` replaces the tier list in the same transaction. With `run_id` the transaction also leaves the footprint
        that undoes it (P16).
        """
        ...

    def tiers(self) -> Result[TierList, Error]:
        """The tier list; empty where there is none yet. A damaged one is an error, never empty (P6)."""
        ...

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool = False) -> Result[Receipt, Error]:
        """Put every file of the footprint back to what was there before, byte for byte, as one transaction that leaves a
        footprint of its own for `run_id`. UndoRefused, and nothing changed, where a file is not as the run left it. A dry
        run changes nothing in any case."""
        ...


class Locks(Protocol):
    """The two locks of a store. Use: `with locks.write() as held:`, then look at `held` before doing anything.

    Order where both are needed: run, then write.
    """

    def run(self) -> AbstractContextManager[Result[None, Error]]:
        """Held by a whole consolidate, defrag or undo; `Busy` at once when it is taken."""
        ...

    def write(self) -> AbstractContextManager[Result[None, Error]]:
        """Held for milliseconds by whatever writes; waits, `Busy` after a limit. May be taken again by its holder."""
        ...


class Recorder(Protocol):
    """What is told about finished writes: git (P4)."""

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        """Record what a person changed since the last record as theirs, or of it only these paths; the number of files.

        Who writes one entry names its path: other files may be another process's writes on their way to their record.
        """
        ...

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        """Record these paths (relative to the root; gone ones as removed) in one commit. The thread and its harness are
        for the template of `storage.commitHook`."""
        ...
