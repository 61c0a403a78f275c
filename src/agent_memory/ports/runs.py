"""What is kept of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from returns.result import Result

    from agent_memory.domain.actions import Deferred
    from agent_memory.domain.change import Change
    from agent_memory.domain.defrag_run import DefragRun, TieringMemo
    from agent_memory.domain.footprint import Footprint, SectionChange
    from agent_memory.domain.run import KeptReply, Run
    from agent_memory.domain.run_log import LoggedRun
    from agent_memory.domain.undone import Undoing
    from agent_memory.errors import Error


class Replies(Protocol):
    """Replies that were paid for, under `runs/`."""

    def find_reply(self, key: str) -> Result[KeptReply | None, Error]:
        """A reply that was paid for and never applied or refused."""
        ...

    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
        """Make a redacted reply durable before it is looked at."""
        ...

    def spend_reply(self, key: str) -> Result[None, Error]:
        """The reply was applied or refused: it stays on record and is not found again."""
        ...

    def drop_reply(self, key: str) -> Result[None, Error]:
        """The reply was applied, and states what a person had forgotten: nothing of it stays, spent or not (P28)."""
        ...


class RunRecords(Replies, Protocol):
    """What is kept of each consolidate run under `runs/`: checkpoint, replies, plan, report."""

    def checkpoint(self, state: str, run: Run) -> Result[None, Error]:
        """Make state and context durable where a crash would leave something half done; elsewhere do nothing."""
        ...

    def unfinished(self) -> Result[tuple[str, Run] | None, Error]:
        """State and context of a run that crashed half way. A checkpoint that cannot be understood is moved aside: the
        session is still pending, and the store recovers by itself."""
        ...

    def deferred(self) -> Result[tuple[Change, ...], Error]:
        """Changes that were over a run's limit, oldest first."""
        ...

    def put_deferred(self, changes: Sequence[Change]) -> Result[None, Error]:
        """Replace the list of deferred changes."""
        ...

    def finish(self, run: Run, error: Error | None) -> Result[None, Error]:
        """Write the report, and drop the checkpoint unless the run failed."""
        ...


class DefragRecords(Replies, Protocol):
    """What is kept of each defrag run under `runs/`, and what one run leaves for the next."""

    def checkpoint(self, state: str, run: DefragRun) -> Result[None, Error]:
        """Make state and context durable where a crash would leave something half done; elsewhere do nothing."""
        ...

    def unfinished(self) -> Result[tuple[str, DefragRun] | None, Error]:
        """State and context of a run that crashed half way."""
        ...

    def finish(self, run: DefragRun, error: Error | None) -> Result[None, Error]:
        """Write the report, and drop the checkpoint unless the run failed half way; `run.trouble` is no such failure."""
        ...

    def deferred(self) -> Result[tuple[Deferred, ...], Error]:
        """Actions that were over a run's limit, oldest first."""
        ...

    def put_deferred(self, deferred: Sequence[Deferred]) -> Result[None, Error]:
        """Replace the list of deferred actions."""
        ...

    def tiering(self) -> Result[TieringMemo, Error]:
        """What the last tiering was made from; empty where there was none, or where the memo is damaged: it is derived."""
        ...

    def put_tiering(self, memo: TieringMemo) -> Result[None, Error]:
        """Replace the memo."""
        ...


class RunLog(Protocol):
    """What past runs did, newest first, and what undoes them."""

    def runs(self, limit: int | None = None, named: str = "") -> Result[tuple[LoggedRun, ...], Error]:
        """Runs that left a report or are at work, newest first: at most `limit`, only those whose id, or its last part,
        begins with `named`. A report that cannot be read is one with problems, not none."""
        ...

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        """What the run changed, every change as it was made. RunNotFound where nothing is kept of it."""
        ...

    def put_sections(self, run_id: str, sections: Sequence[SectionChange]) -> Result[None, Error]:
        """Make durable how the run is about to change managed sections. What is known of a path already stays: a resumed
        run must not take its own work for what was there before."""
        ...

    def put_report(self, run: LoggedRun, error: Error | None = None) -> Result[None, Error]:
        """Write the report of a run."""
        ...

    def recently_changed(self, count: int) -> Result[tuple[frozenset[str], ...], Error]:
        """The entries that each of the last `count` runs changed that changed any, newest first; undos, and runs that are
        undone, left out."""
        ...

    def churning(self) -> Result[frozenset[str], Error]:
        """The entries that changed in 3 of the last 10 runs (`undone.churning`)."""
        ...

    def undone(self) -> Result[frozenset[str], Error]:
        """Fingerprints of the actions that a person has undone (`actions.fingerprint_of`)."""
        ...

    def mark_undone(self, run_id: str, by_run_id: str, fingerprints: frozenset[str]) -> Result[None, Error]:
        """Remember that a run was undone, by which undo, and which of its actions must not come again."""
        ...

    def undoing(self) -> Result[Undoing | None, Error]:
        """The undo at work, or the one that a crash interrupted."""
        ...

    def put_undoing(self, undoing: Undoing | None) -> Result[None, Error]:
        """Make durable which undo is about to change something; None once all of it is done."""
        ...
