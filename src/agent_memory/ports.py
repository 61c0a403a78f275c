"""Every port: what the machines ask of the outside world. Tests and other programs may bring their own.

What is damaged or cannot be read is an error, never "nothing there" (P6). Whatever is put is durable when the call returns.
Types are imported for type checkers alone: `memory list` has ports, and needs few of their values.
"""

# pyright: reportReturnType=false
# A method of a port has a contract and no body.

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from returns.result import Result

    from agent_memory.errors import Error
    from agent_memory.note.note import Harness, Listed, Listing, Status, StoredEntry, TierList, Usage
    from agent_memory.rules.agent_request import AgentReply, AgentRequest
    from agent_memory.rules.change import Change, ChangeGroup, Receipt
    from agent_memory.rules.forgotten import EntryTombstone, SessionTombstone, StateTombstone
    from agent_memory.rules.plan import Deferred  # noqa: F401 - names are in strings
    from agent_memory.rules.run import DefragRun, KeptReply, TieringMemo  # noqa: F401 - names are in strings
    from agent_memory.rules.run_log import LoggedRun, Undoing
    from agent_memory.rules.section import TargetFile
    from agent_memory.rules.undo_run import Footprint, SectionChange
    from agent_memory.rules.usage import DayReads
    from agent_memory.session.found_session import FoundSession
    from agent_memory.session.history import History, SessionMark
    from agent_memory.session.queue import InboxEntry, KnownSessions, Loaded, Outcome, Pending, Trouble
    from agent_memory.session.turns import KeptSession


C = TypeVar("C")
D = TypeVar("D")


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC."""


# -- notes ----------------------------------------------------------------------------------------------------------------


class Store(Protocol):
    """The notes on disk (P2, P5, P6, P8, P12, P15, P21)."""

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """Returns every live (or archived) entry, without bodies."""

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """Returns the live entry with this id or alias; with `archived`, the newest archived version of it. Counts nothing."""

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        """Returns an entry that was listed before, as it is now; looked for first where it was. Counts nothing."""

    def apply(
        self, changes: Sequence[Change | ChangeGroup], *, tiers: TierList | None = None, run_id: str | None = None
    ) -> Result[Receipt, Error]:
        """Carries out all changes as one transaction: all durable, or on an error none. A change whose entry's bytes are not the
        expected ones is dropped, the rest is applied (P8).

        `tiers` replaces the tier list in the same transaction. With `run_id` the transaction also leaves the footprint
        that undoes it (P16).
        """

    def tiers(self) -> Result[TierList, Error]:
        """Returns the tier list; empty where there is none yet."""

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool = False) -> Result[Receipt, Error]:
        """Put every file of the footprint back to what was there before, byte for byte, as one transaction that leaves a
        footprint of its own for `run_id`. UndoRefused, and nothing changed, where a file is not as the run left it."""


class Locks(Protocol):
    """The two locks of a store, each for `with`, which raises what keeps it away: `Busy`, or the disk's refusal.

    Order where both are needed: run, then write.
    """

    def run(self) -> AbstractContextManager[None]:
        """Held by a whole consolidate, defrag or undo; `Busy` at once when it is taken."""

    def write(self) -> AbstractContextManager[None]:
        """Held for milliseconds by whatever writes; waits, `Busy` after a limit. May be taken again by its holder."""


class Recorder(Protocol):
    """What is told about finished writes: git (P4)."""

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        """Record what a person changed since the last record as theirs, or of it only these paths; the number of files.

        Who writes one entry names its path: other files may be another process's writes on their way to their record.
        """

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


class UsageLedger(Protocol):
    """Reads, append-only (exact under concurrency)."""

    def append(self, id: str, at_ms: int, reader: str) -> Result[None, Error]:
        """Record one read by `reader` (a harness or `manual`)."""

    def adopt(self, id: str, usage: Usage) -> Result[None, Error]:
        """Take the reads that an imported or hand-written entry brought along as its base, unless the ledgers know the id
        already. They count once, however many do this at the same time."""

    def totals(self) -> Result[Mapping[str, Usage], Error]:
        """Reads of each id, over all hosts."""

    def day_reads(self) -> Result[tuple[DayReads, ...], Error]:
        """Returns how often each reader read on each UTC day, over all hosts, by day and reader."""


class Tombstones(Protocol):
    """What was forgotten, and is not to be learnt again (P28)."""

    def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]: ...

    def of_entries(self) -> Result[tuple[EntryTombstone, ...], Error]: ...

    def put(self, tombstone: SessionTombstone | EntryTombstone | StateTombstone) -> Result[None, Error]: ...


class Targets(Protocol):
    """The files in which we own one managed section (P17)."""

    def read(self, path: str) -> Result[TargetFile, Error]:
        """Returns the file as it is, a missing one too. TargetRefused for what must not be written: a directory, a
        device, a link that leaves the home."""

    def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
        """Replace the file's bytes, atomically, keeping mode and owner. TargetRefused where it is no longer what `file`
        says. Where a section goes that nothing here wrote, a copy of it is durable before: its path."""

    def remove(self, file: TargetFile) -> Result[str | None, Error]:
        """Remove a file that we had created and that is still what `file` says; the copy of its section as above."""


class Embedder(Protocol):
    """What turns a text into a vector of its meaning, without a network."""

    @property
    def name(self) -> str:
        """Which model and recipe: vectors of another name are not comparable, and are not used."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        """Returns a packed vector for each text, in their order (`similarity.vectors`): `dimensions` signed bytes, all
        zeros for a text without words. Any text has one."""

    def embed_words(self, words: Sequence[tuple[str, float]]) -> Result[bytes, Error]:
        """Returns the packed vector of these words, each counting as much as it says."""


# -- sessions and the agent ---------------------------------------------------------------------------------------------------


class Inbox(Protocol):
    """The queue on disk (P1, P3, P6, P7)."""

    def put(self, entry: InboxEntry) -> Result[str, Error]:
        """Returns the name under which the entry is now durable."""

    def names(self) -> Result[tuple[str, ...], Error]:
        """Names of all pending entries in the order of their time stamps; nothing is opened."""

    def load(self, limit: int | None, now_ms: int) -> Result[Loaded, Error]:
        """Returns the folded queue in working order; malformed files are quarantined, the rest goes on."""

    def note(self, pending: Pending, trouble: Trouble) -> Result[None, Error]:
        """Remember trouble; the entry stays pending."""

    def retire(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """Move all its files to `.processed/` with the outcome added. Done already counts as done."""

    def give_up(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """Move all its files to `.failed/` with the outcome beside them."""

    def retry_failed(self) -> Result[int, Error]:
        """Bring back what was given up (not what was malformed); the number of entries, their counts cleared."""

    def known(self) -> Result[KnownSessions, Error]:
        """Returns which sessions wait, and which were given up. Changes nothing, and needs no lock; malformed files are
        left."""


class HistorySource(Protocol):
    """How to get the history of a session, for one retrieval method or several."""

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """Returns the turns after the mark (all of them without one)."""


class SessionFinder(Protocol):
    """The past sessions of one harness, as far as they can be told without reading them."""

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """Returns every session that changed at or after `since_ms`, in any order; a sub-agent's own is none. A harness
        that was never used here has no sessions."""


class KeptHistories(Protocol):
    """The redacted histories of consolidated sessions, so that a second look needs no transcript (P20, P28)."""

    def keep(self, history: History, after_record_id: str | None) -> Result[None, Error]:
        """Keep one more part of a session: its turns after this record, from the beginning without one. The same part
        twice is kept once. Above the cap the sessions kept longest ago go, whole. It must be redacted already."""

    def fetch(self, harness: Harness, session_id: str, mark: SessionMark | None) -> Result[History | None, Error]:
        """Returns the kept turns after the mark, at most about 16 MiB of them (`remaining` then); None where there is
        none, and, without a mark, where the beginning of the session is not kept."""

    def sessions(self) -> Result[tuple[KeptSession, ...], Error]:
        """Returns what is kept, the longest kept first; nothing is opened."""

    def forget(self, harness: Harness, session_id: str) -> Result[None, Error]:
        """Remove all that is kept of a session; one of which nothing is kept counts as removed."""


class SessionMarks(Protocol):
    """How far each session has been consolidated."""

    def get(self, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]: ...

    def put(self, mark: SessionMark) -> Result[None, Error]: ...

    def all(self) -> Iterator[Result[SessionMark, Error]]: ...


class Agent(Protocol):
    """What answers a prompt (P9, P10)."""

    @property
    def name(self) -> str:
        """Which agent, for replay of stored replies and for session marks: `builtin`, a preset, `command:<hash>`."""

    @property
    def status(self) -> Status:
        """The status of what it writes: `captured` for the built-in, `consolidated` for a command."""

    @property
    def max_prompt_chars(self) -> int | None:
        """Longest prompt; None where a session is taken whole."""

    def answer(self, request: AgentRequest) -> Result[AgentReply, Error]:
        """Returns the reply, unchecked."""


# -- runs -----------------------------------------------------------------------------------------------------------------


class RunRecords(Protocol[C, D]):
    """What is kept of each run of a machine under `runs/`: its checkpoint, replies that were paid for, its report, and what was
    over its limit. A run that nobody answered (`DefragRun.trouble`) is reported as failed, with what it did all the same."""

    def checkpoint(self, state: str, run: C) -> Result[None, Error]:
        """Make state and context durable where a crash would leave something half done; elsewhere do nothing."""

    def unfinished(self) -> Result[tuple[str, C] | None, Error]:
        """State and context of a run that crashed half way. A checkpoint that cannot be understood is moved aside: what it
        was about is still pending, and the store recovers by itself."""

    def finish(self, run: C, error: Error | None) -> Result[None, Error]:
        """Write the report, and drop the checkpoint unless the run failed."""

    def find_reply(self, key: str) -> Result[KeptReply | None, Error]:
        """Returns a reply that was paid for and never applied or refused."""

    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
        """Make a redacted reply durable before it is looked at."""

    def spend_reply(self, key: str) -> Result[None, Error]:
        """The reply was applied or refused: it stays on record and is not found again."""

    def drop_reply(self, key: str) -> Result[None, Error]:
        """The reply was applied, and states what a person had forgotten: nothing of it stays, spent or not (P28)."""

    def deferred(self) -> Result[tuple[D, ...], Error]:
        """Returns what was over a run's limit, oldest first."""

    def put_deferred(self, deferred: Sequence[D]) -> Result[None, Error]: ...


class DefragRecords(RunRecords["DefragRun", "Deferred"], Protocol):
    """Those of defrag, with what one run leaves for the next."""

    def tiering(self) -> Result[TieringMemo, Error]:
        """Returns what the last tiering was made from; empty where there was none, or where the memo is damaged: it is
        derived."""

    def put_tiering(self, memo: TieringMemo) -> Result[None, Error]: ...


class RunLog(Protocol):
    """What past runs did, newest first, and what undoes them."""

    def runs(self, limit: int | None = None, named: str = "") -> Result[tuple[LoggedRun, ...], Error]:
        """Runs that left a report or are at work, newest first: at most `limit`, only those whose id, or its last part,
        begins with `named`. A report that cannot be read is one with problems, not none."""

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        """Returns what the run changed, every change as it was made. RunNotFound where nothing is kept of it."""

    def put_sections(self, run_id: str, sections: Sequence[SectionChange]) -> Result[None, Error]:
        """Keep how the run is about to change managed sections. What is known of a path already stays: a resumed run must
        not take its own work for what was there before."""

    def put_report(self, run: LoggedRun, error: Error | None = None) -> Result[None, Error]: ...

    def churning(self) -> Result[frozenset[str], Error]:
        """Returns the entries that changed in 3 of the last 10 runs (`run_log.churning`)."""

    def undone(self) -> Result[frozenset[str], Error]:
        """Fingerprints of the actions that a person has undone (`actions.fingerprint_of`)."""

    def mark_undone(self, run_id: str, by_run_id: str, fingerprints: frozenset[str]) -> Result[None, Error]:
        """Remember that a run was undone, by which undo, and which of its actions must not come again."""

    def undoing(self) -> Result[Undoing | None, Error]:
        """Returns the undo at work, or the one that a crash interrupted."""

    def put_undoing(self, undoing: Undoing | None) -> Result[None, Error]:
        """Make durable which undo is about to change something; None once all of it is done."""
