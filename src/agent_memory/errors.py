"""Every way in which a public function can fail: one closed union of frozen exceptions.

Inside, they are raised. A public function, a port and a step of a machine return them as the `Failure` of a `Result`:
`as_result` and `unwrap` of `agent_memory.results` lead from one to the other.

Each class carries a stable `code` (used by `--json`), an `exit_code` for the process, and facts as fields. No class holds
prose: `agent_memory.wording` turns an error into the sentence that people read. Exit codes: 2 usage, 3 bug, 10 config,
20 store, 30 inbox or history, 40 agent, 50 reply or plan refused, 60 recorder, 70 managed section, 75 busy.
"""

from __future__ import annotations

from typing import ClassVar, cast, get_args

from attrs import frozen


class AgentMemoryError(Exception):
    """What the errors below have in common: two of the same class with the same facts are equal."""

    code: ClassVar[str]
    exit_code: ClassVar[int]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AgentMemoryError) and type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


# -- 2: usage ---------------------------------------------------------------------------------------------------------


@frozen
class UsageInvalid(AgentMemoryError):
    """The call itself is wrong. `problem` and `hint` are whole phrases made by the surface that parsed the call."""

    code: ClassVar[str] = "usage"
    exit_code: ClassVar[int] = 2
    problem: str
    hint: str = ""


@frozen
class ActRefused(AgentMemoryError):
    """An act that raises trust, asked for inside a harness; `because` names the environment variable that showed it."""

    code: ClassVar[str] = "act-refused"
    exit_code: ClassVar[int] = 2
    act: str
    because: str


# -- 10: config -------------------------------------------------------------------------------------------------------


@frozen
class ConfigInvalid(AgentMemoryError):
    """A config file that is not valid; every problem is listed as `path.to.key: what is wrong`."""

    code: ClassVar[str] = "config-invalid"
    exit_code: ClassVar[int] = 10
    path: str
    problems: tuple[str, ...]


@frozen
class ConfigUnreadable(AgentMemoryError):
    """A config file that exists but cannot be read."""

    code: ClassVar[str] = "config-unreadable"
    exit_code: ClassVar[int] = 10
    path: str
    reason: str


@frozen
class SettingsRefused(AgentMemoryError):
    """A harness's settings file, or our own config, that setup or uninstall must not or cannot edit; it was left as it is."""

    code: ClassVar[str] = "settings-refused"
    exit_code: ClassVar[int] = 10
    path: str
    reason: str


@frozen
class SchedulerFailed(AgentMemoryError):
    """The machine's scheduler is not there, or did not take the jobs."""

    code: ClassVar[str] = "scheduler-failed"
    exit_code: ClassVar[int] = 10
    scheduler: str
    """`launchd`, `systemd` or `cron`."""
    reason: str
    hint: str


@frozen
class HomeUnknown(AgentMemoryError):
    """Neither HOME nor the password database says where the person's files are."""

    code: ClassVar[str] = "home-unknown"
    exit_code: ClassVar[int] = 10


# -- 20: store --------------------------------------------------------------------------------------------------------


@frozen
class StoreIo(AgentMemoryError):
    """The operating system refused `operation` on `path`; `errno_name` is its symbolic name (`ENOSPC`)."""

    code: ClassVar[str] = "store-io"
    exit_code: ClassVar[int] = 20
    path: str
    operation: str
    errno_name: str
    reason: str


@frozen
class EntryNotFound(AgentMemoryError):
    """No live entry, alias or (where asked for) archived entry has this id."""

    code: ClassVar[str] = "entry-not-found"
    exit_code: ClassVar[int] = 20
    id: str
    archived: bool = False
    """True when it is not live but is in the archive."""


@frozen
class EntryUnreadable(AgentMemoryError):
    """A file in `topics/` or `archive/` that is not a valid memory entry; the file is left as it is."""

    code: ClassVar[str] = "entry-unreadable"
    exit_code: ClassVar[int] = 20
    path: str
    problems: tuple[str, ...]


@frozen
class EntryInvalid(AgentMemoryError):
    """Values that would make an invalid entry, refused before anything is written."""

    code: ClassVar[str] = "entry-invalid"
    exit_code: ClassVar[int] = 20
    problems: tuple[str, ...]


@frozen
class EntryChanged(AgentMemoryError):
    """The entry's bytes are not those that the change was made from."""

    code: ClassVar[str] = "entry-changed"
    exit_code: ClassVar[int] = 20
    id: str


@frozen
class EntryExists(AgentMemoryError):
    """Another live entry has this id or this file name."""

    code: ClassVar[str] = "entry-exists"
    exit_code: ClassVar[int] = 20
    id: str
    path: str


@frozen
class EntryProtected(AgentMemoryError):
    """The rule named by `because` (for instance `secret`) forbids `act` on this entry."""

    code: ClassVar[str] = "entry-protected"
    exit_code: ClassVar[int] = 20
    id: str
    act: str
    because: str


@frozen
class PathRefused(AgentMemoryError):
    """A path that leaves the store, or passes through a symbolic link or a special file inside it."""

    code: ClassVar[str] = "path-refused"
    exit_code: ClassVar[int] = 20
    path: str
    reason: str


@frozen
class StateCorrupt(AgentMemoryError):
    """A file of ours under the root (state, run record, ledger) that cannot be understood; nothing was changed."""

    code: ClassVar[str] = "state-corrupt"
    exit_code: ClassVar[int] = 20
    path: str
    problems: tuple[str, ...]


@frozen
class StateInvalid(AgentMemoryError):
    """A key or a value that cannot be kept as state, refused before anything is written."""

    code: ClassVar[str] = "state-invalid"
    exit_code: ClassVar[int] = 20
    problems: tuple[str, ...]


@frozen
class StateNotFound(AgentMemoryError):
    """Nothing is kept as state under this key."""

    code: ClassVar[str] = "state-not-found"
    exit_code: ClassVar[int] = 20
    key: str


@frozen
class RunNotFound(AgentMemoryError):
    """No run under `runs/` has this id, or begins with it; with an empty id there is none that could be meant."""

    code: ClassVar[str] = "run-not-found"
    exit_code: ClassVar[int] = 20
    run_id: str


@frozen
class UndoRefused(AgentMemoryError):
    """A run that cannot be undone as it stands: what it wrote was changed since, or it is undone already. Nothing was changed."""

    code: ClassVar[str] = "undo-refused"
    exit_code: ClassVar[int] = 20
    run_id: str
    reasons: tuple[str, ...]


# -- 30: inbox and history --------------------------------------------------------------------------------------------


@frozen
class InboxEntryInvalid(AgentMemoryError):
    """An inbox entry, or what would become one, with every problem as `key: what is wrong`."""

    code: ClassVar[str] = "inbox-entry-invalid"
    exit_code: ClassVar[int] = 30
    problems: tuple[str, ...]
    path: str | None = None


@frozen
class HistoryUnavailable(AgentMemoryError):
    """The session's history is not there yet or not reachable now. Sets the entry back; never an attempt by itself."""

    code: ClassVar[str] = "history-unavailable"
    exit_code: ClassVar[int] = 30
    session_id: str
    reason: str
    is_missing: bool = False
    """Where it was looked for, nothing of it is there: not yet, or no longer. Else it cannot be read now, and says nothing of
    what it holds (P6)."""


@frozen
class HistoryUnreadable(AgentMemoryError):
    """A transcript that exists and can never be read as what it claims to be: the session's own fault, one attempt."""

    code: ClassVar[str] = "history-unreadable"
    exit_code: ClassVar[int] = 30
    path: str
    reason: str


@frozen
class TranscriptRefused(AgentMemoryError):
    """A transcript that must not be read: outside the known roots, a FIFO, a device or a symbolic link (P27)."""

    code: ClassVar[str] = "transcript-refused"
    exit_code: ClassVar[int] = 30
    path: str
    reason: str


@frozen
class SessionForgotten(AgentMemoryError):
    """A session that a person had forgotten at `at_ms`: it is not captured, read or learnt from again (P28)."""

    code: ClassVar[str] = "session-forgotten"
    exit_code: ClassVar[int] = 30
    session_id: str
    at_ms: int


# -- 40: agent command ------------------------------------------------------------------------------------------------


@frozen
class AgentMissing(AgentMemoryError):
    """The configured executable does not exist or cannot be run. Pauses the run."""

    code: ClassVar[str] = "agent-missing"
    exit_code: ClassVar[int] = 40
    command: str


@frozen
class AgentFailed(AgentMemoryError):
    """The command ended with a non-zero exit or a signal. `stderr_tail` is redacted. Pauses the run."""

    code: ClassVar[str] = "agent-failed"
    exit_code: ClassVar[int] = 40
    command: str
    exit_status: int
    stderr_tail: str


@frozen
class AgentUnavailable(AgentMemoryError):
    """The command ran but cannot serve now: `cause` is login, rate-limit, network or config. Pauses the run."""

    code: ClassVar[str] = "agent-unavailable"
    exit_code: ClassVar[int] = 40
    command: str
    cause: str
    said: str


@frozen
class AgentTimedOut(AgentMemoryError):
    """No reply within the limit; the whole process group was ended. Sets the entry back."""

    code: ClassVar[str] = "agent-timed-out"
    exit_code: ClassVar[int] = 40
    command: str
    seconds: float


@frozen
class SpendExhausted(AgentMemoryError):
    """The day's calls are used up. Pauses the run until the next day (UTC)."""

    code: ClassVar[str] = "spend-exhausted"
    exit_code: ClassVar[int] = 40
    calls_today: int
    max_calls_per_day: int


@frozen
class PresetRefused(AgentMemoryError):
    """A preset that cannot switch its tools off, without `llm.allowTools`."""

    code: ClassVar[str] = "preset-refused"
    exit_code: ClassVar[int] = 40
    preset: str


# -- 50: reply and plan -----------------------------------------------------------------------------------------------


@frozen
class ReplyRefused(AgentMemoryError):
    """A reply that is not progress: no envelope, a wrong nonce, over a limit, or empty of anything usable."""

    code: ClassVar[str] = "reply-refused"
    exit_code: ClassVar[int] = 50
    reasons: tuple[str, ...]


# -- 60: recorder -----------------------------------------------------------------------------------------------------


@frozen
class RecorderFailed(AgentMemoryError):
    """Git did not record finished writes; the writes themselves are on disk (P4)."""

    code: ClassVar[str] = "recorder-failed"
    exit_code: ClassVar[int] = 60
    command: str
    exit_status: int
    stderr_tail: str


@frozen
class SyncRefused(AgentMemoryError):
    """A sync that cannot be done as things stand: `reason` is a whole phrase, `hint` says what to do. Nothing was changed."""

    code: ClassVar[str] = "sync-refused"
    exit_code: ClassVar[int] = 60
    reason: str
    hint: str


@frozen
class RemoteUnavailable(AgentMemoryError):
    """The remote did not answer or did not let us in: `cause` is network, login, gone or refused; what it said is redacted.
    What is on this machine is whole; the next sync goes on from there."""

    code: ClassVar[str] = "remote-unavailable"
    exit_code: ClassVar[int] = 60
    remote: str
    operation: str
    cause: str
    said: str


# -- 70: managed section ----------------------------------------------------------------------------------------------


@frozen
class MarkersAmbiguous(AgentMemoryError):
    """A target whose markers do not enclose exactly one section; the file was left as it is (P17)."""

    code: ClassVar[str] = "markers-ambiguous"
    exit_code: ClassVar[int] = 70
    path: str
    problem: str


@frozen
class TargetRefused(AgentMemoryError):
    """A target that must not or cannot be written; it was left as it is."""

    code: ClassVar[str] = "target-refused"
    exit_code: ClassVar[int] = 70
    path: str
    reason: str


# -- 75: busy ---------------------------------------------------------------------------------------------------------


@frozen
class Busy(AgentMemoryError):
    """Another run holds the lock."""

    code: ClassVar[str] = "busy"
    exit_code: ClassVar[int] = 75
    lock_path: str


# -- 3: bug -----------------------------------------------------------------------------------------------------------


@frozen
class Defect(AgentMemoryError):
    """An exception that no rule foresaw, caught at the one place that may: the machines' driver."""

    code: ClassVar[str] = "defect"
    exit_code: ClassVar[int] = 3
    step: str
    detail: str


Error = (
    UsageInvalid
    | ActRefused
    | ConfigInvalid
    | ConfigUnreadable
    | SettingsRefused
    | SchedulerFailed
    | HomeUnknown
    | StoreIo
    | EntryNotFound
    | EntryUnreadable
    | EntryInvalid
    | EntryChanged
    | EntryExists
    | EntryProtected
    | PathRefused
    | StateCorrupt
    | StateInvalid
    | StateNotFound
    | RunNotFound
    | UndoRefused
    | InboxEntryInvalid
    | HistoryUnavailable
    | HistoryUnreadable
    | TranscriptRefused
    | SessionForgotten
    | AgentMissing
    | AgentFailed
    | AgentUnavailable
    | AgentTimedOut
    | SpendExhausted
    | PresetRefused
    | ReplyRefused
    | RecorderFailed
    | SyncRefused
    | RemoteUnavailable
    | MarkersAmbiguous
    | TargetRefused
    | Busy
    | Defect
)

ERRORS = cast("type[Error]", get_args(Error))
"""All of them, for `except`: what is caught is then known as `Error`. (It is a tuple of classes; no checker takes the tuple of a
union's members for what it is.)"""
