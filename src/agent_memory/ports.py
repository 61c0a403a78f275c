"""The ports: Protocols for what the machines need from the outside world. Tests and other programs may bring their own.

Data that is damaged or unreadable is an error, never "nothing there" (P6). Whatever is put is durable when the call
returns. Types are imported for type checkers only: `memory list` loads this module and needs few of them.
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
    from agent_memory.session.found_session import FoundSession
    from agent_memory.session.history import History, SessionMark
    from agent_memory.session.queue import InboxEntry, KnownSessions, Loaded, Outcome, Pending, Trouble
    from agent_memory.session.turns import KeptSession
    from agent_memory.store.usage_ledger import DayReads


C = TypeVar("C")
D = TypeVar("D")


class Clock(Protocol):
    def now_ms(self) -> int:
        """Returns milliseconds since 1970 UTC."""


# -- notes ----------------------------------------------------------------------------------------------------------------


class Notes(Protocol):
    """The notes to be read. No method counts a read."""

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """Returns every live (or archived) note, without bodies."""

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """Returns the live note with this id or alias; with `archived`, its newest archived version."""

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        """Returns the current state of a note listed before; looks first at its old path."""

    def tiers(self) -> Result[TierList, Error]:
        """Returns the tier list; empty if there is none yet."""


class Store(Notes, Protocol):
    """The notes on disk (P2, P5, P6, P8, P12, P15, P21)."""

    def apply(
        self, changes: Sequence[Change | ChangeGroup], *, tiers: TierList | None = None, run_id: str | None = None
    ) -> Result[Receipt, Error]:
        """Applies all changes as one transaction: all become durable, or on an error none. Only a change to a note
        whose bytes are not the expected ones is dropped (P8). `tiers` replaces the tier list in the same transaction.
        With `run_id` the transaction also stores the footprint that undoes it (P16)."""

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool = False) -> Result[Receipt, Error]:
        """Restores every file of the footprint, byte for byte, as one transaction with a footprint of its own under
        `run_id`. UndoRefused, with nothing changed, if a file is not as the run left it."""


class Locks(Protocol):
    """The two locks of a store, as context managers that raise `Busy` or the disk's error; take run before write."""

    def run(self) -> AbstractContextManager[None]:
        """Returns the lock that consolidate, defrag and undo hold throughout; `Busy` at once if taken."""

    def write(self) -> AbstractContextManager[None]:
        """Returns the lock that any writer holds for milliseconds; waits, then `Busy`. Its holder may take it again."""


class Recorder(Protocol):
    """The record of finished writes: git (P4)."""

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        """Records what a person changed since the last record as theirs; returns the number of files. Whoever writes
        one note passes its path as `among`: other changed files may be another process's writes, not yet recorded."""

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        """Records these paths (relative to the root; missing ones as removed) in one commit. The thread and its harness
        are for the template of `storage.commitHook`."""


class UsageLedger(Protocol):
    """The reads of notes, append-only and exact under concurrency."""

    def append(self, id: str, at_ms: int, reader: str) -> Result[None, Error]:
        """Records one read by `reader` (a harness or `manual`)."""

    def adopt(self, id: str, usage: Usage) -> Result[None, Error]:
        """Takes over the reads of an imported or hand-written note as its base, unless the ledgers know its id already.
        They count once, however many processes do this at the same time."""

    def totals(self) -> Result[Mapping[str, Usage], Error]:
        """Returns the reads of each id, over all hosts."""

    def day_reads(self) -> Result[tuple[DayReads, ...], Error]:
        """Returns how often each reader read on each UTC day, over all hosts, sorted by day and reader."""


class Tombstones(Protocol):
    """What was forgotten and must not be learnt again (P28)."""

    def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]: ...

    def of_entries(self) -> Result[tuple[EntryTombstone, ...], Error]: ...

    def rejected(self) -> Result[tuple[EntryTombstone, ...], Error]:
        """Returns what a person rejected."""

    def put(self, tombstone: SessionTombstone | EntryTombstone | StateTombstone) -> Result[None, Error]: ...


class Targets(Protocol):
    """The files in which we own one managed section (P17)."""

    def read(self, path: str) -> Result[TargetFile, Error]:
        """Returns the file, maybe missing. TargetRefused for a directory, a device, or a link that leaves the home."""

    def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
        """Replaces the file's bytes atomically, keeping mode and owner. TargetRefused if it is no longer as `file`
        says. A removed section that we did not write is copied first; returns the copy's path."""

    def remove(self, file: TargetFile) -> Result[str | None, Error]:
        """Removes a file that we created, if it is still as `file` says; copies its section like `write`."""


class Embedder(Protocol):
    """Turns a text into a vector of its meaning, without a network."""

    @property
    def name(self) -> str:
        """The model and recipe; vectors with different names are not comparable."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        """Returns a packed vector for each text: `dimensions` signed bytes, all zeros for a text without words."""

    def embed_words(self, words: Sequence[tuple[str, float]]) -> Result[bytes, Error]:
        """Returns the packed vector of these words with their weights."""


# -- sessions and the agent ---------------------------------------------------------------------------------------------------


class Inbox(Protocol):
    """The queue on disk (P1, P3, P6, P7)."""

    def put(self, entry: InboxEntry) -> Result[str, Error]:
        """Returns the name under which the entry is now durable."""

    def names(self) -> Result[tuple[str, ...], Error]:
        """Returns the names of all pending entries by time stamp, without opening any."""

    def load(self, limit: int | None, now_ms: int) -> Result[Loaded, Error]:
        """Returns the folded queue in working order; malformed files are quarantined, and do not stop the others."""

    def note(self, pending: Pending, trouble: Trouble) -> Result[None, Error]:
        """Stores the trouble; the entry stays pending."""

    def retire(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """Moves all its files to `.processed/` with the outcome added. Files that are there already are fine."""

    def give_up(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """Moves all its files to `.failed/` with the outcome beside them."""

    def retry_failed(self) -> Result[int, Error]:
        """Brings back what was given up (not what was malformed), its counts cleared; returns the number of entries."""

    def known(self) -> Result[KnownSessions, Error]:
        """Returns which sessions are pending and which were given up. Changes nothing, and takes no lock."""


class HistorySource(Protocol):
    """Reads the history of a session, for one or several retrieval methods."""

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """Returns the turns after the mark, or all of them."""


class SessionFinder(Protocol):
    """Finds the past sessions of one harness without reading them whole."""

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """Yields every session that changed at or after `since_ms`, in any order, without those of sub-agents. A
        harness that was never used here has none."""


class KeptHistories(Protocol):
    """The redacted histories of consolidated sessions, so that a second look needs no transcript (P20, P28)."""

    def keep(self, history: History, after_record_id: str | None) -> Result[None, Error]:
        """Keeps one more part of a session: its turns after this record, or from the beginning. The same part twice is
        kept once. Above the cap, the sessions kept longest ago are dropped whole. The history must be redacted already.
        """

    def fetch(self, harness: Harness, session_id: str, mark: SessionMark | None) -> Result[History | None, Error]:
        """Returns the kept turns after the mark, at most about 16 MiB of them (`remaining` is then set). None if there
        are none, or if, without a mark, the beginning is not kept."""

    def sessions(self) -> Result[tuple[KeptSession, ...], Error]:
        """Returns what is kept, oldest first, without opening it."""

    def forget(self, harness: Harness, session_id: str) -> Result[None, Error]:
        """Removes all that is kept of a session, if anything."""


class SessionMarks(Protocol):
    """How far each session has been consolidated."""

    def get(self, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]: ...

    def put(self, mark: SessionMark) -> Result[None, Error]: ...

    def all(self) -> Iterator[Result[SessionMark, Error]]: ...


class Agent(Protocol):
    """An agent that answers prompts (P9, P10)."""

    @property
    def name(self) -> str:
        """The agent's name for stored replies and session marks: `builtin`, a preset, `command:<hash>`."""

    @property
    def status(self) -> Status:
        """The status of the notes it writes: `captured` for the built-in, `consolidated` for a command."""

    @property
    def max_prompt_chars(self) -> int | None:
        """The longest prompt; None if it takes a session whole."""

    def answer(self, request: AgentRequest) -> Result[AgentReply, Error]:
        """Returns the reply, unchecked."""


# -- runs -----------------------------------------------------------------------------------------------------------------


class RunRecords(Protocol[C, D]):
    """The records of a machine's runs under `runs/`: checkpoints, paid replies, reports, and work over a run's limit. A
    run that nobody answered (`DefragRun.trouble`) is reported as failed, together with what it did do."""

    def checkpoint(self, state: str, run: C) -> Result[None, Error]:
        """Makes state and context durable where a crash would leave something half done; otherwise does nothing."""

    def unfinished(self) -> Result[tuple[str, C] | None, Error]:
        """Returns state and context of a run that crashed. A checkpoint that cannot be parsed is moved aside: its work
        is still pending, and the store recovers by itself."""

    def finish(self, run: C, error: Error | None) -> Result[None, Error]:
        """Writes the report, and drops the checkpoint unless the run failed."""

    def find_reply(self, key: str) -> Result[KeptReply | None, Error]:
        """Returns a paid reply that was neither applied nor refused."""

    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
        """Makes a redacted reply durable before it is parsed."""

    def spend_reply(self, key: str) -> Result[None, Error]:
        """Marks the reply as applied or refused: it stays on record, but `find_reply` no longer returns it."""

    def drop_reply(self, key: str) -> Result[None, Error]:
        """Deletes a reply, spent or not, that states something a person had memory forget (P28)."""

    def deferred(self) -> Result[tuple[D, ...], Error]:
        """Returns what exceeded a run's limit, oldest first."""

    def put_deferred(self, deferred: Sequence[D]) -> Result[None, Error]: ...


class DefragRecords(RunRecords["DefragRun", "Deferred"], Protocol):
    """The records of defrag, with what one run leaves for the next."""

    def tiering(self) -> Result[TieringMemo, Error]:
        """Returns the inputs of the last tiering; empty if there was none or the derived memo is damaged."""

    def put_tiering(self, memo: TieringMemo) -> Result[None, Error]: ...


class RunLog(Protocol):
    """What past runs did, and what undoes them."""

    def runs(self, limit: int | None = None, named: str = "") -> Result[tuple[LoggedRun, ...], Error]:
        """Returns runs that are at work or left a report, newest first; at most `limit`, and only those whose id, or
        its last part, begins with `named`. An unreadable report is returned as one with problems."""

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        """Returns everything the run changed. RunNotFound if nothing is kept of it."""

    def put_sections(self, run_id: str, sections: Sequence[SectionChange]) -> Result[None, Error]:
        """Stores how the run is about to change managed sections. What is stored for a path already stays: a resumed
        run must not take its own work for the original."""

    def put_report(self, run: LoggedRun, error: Error | None = None) -> Result[None, Error]: ...

    def churning(self) -> Result[frozenset[str], Error]:
        """Returns the ids of notes that changed in 3 of the last 10 runs (`run_log.churning`)."""

    def undone(self) -> Result[frozenset[str], Error]:
        """Returns the fingerprints of actions that a person has undone (`plan.fingerprint_of`)."""

    def mark_undone(self, run_id: str, by_run_id: str, fingerprints: frozenset[str]) -> Result[None, Error]:
        """Records that a run was undone, by which undo, and which of its actions must not be repeated."""

    def undoing(self) -> Result[Undoing | None, Error]:
        """Returns the undo that is at work or was interrupted by a crash."""

    def put_undoing(self, undoing: Undoing | None) -> Result[None, Error]:
        """Makes durable which undo is about to change something; None once it is done."""
