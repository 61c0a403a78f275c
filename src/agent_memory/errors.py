"""Every way in which a public function can fail: one class of exception a failure, below `Error`.

Inside, they are raised. A public function, a port and a step of a machine return them as the `Failure` of a `Result`:
`as_result` and `unwrap` of `agent_memory.results` lead from one to the other.

Each class carries a stable `code` (used by `--json`), an `exit_code` for the process, facts as fields, and the sentence that
people read as its `str`: what happened, where, what to do next. Exit codes: 2 usage, 3 bug, 10 config, 20 store, 30 inbox or
history, 40 agent, 50 reply or plan refused, 60 recorder, 70 managed section, 75 busy.
"""

from __future__ import annotations

import time
from typing import ClassVar

from attrs import frozen


@frozen
class Error(Exception):
    """A failure that was foreseen. Two of the same class with the same facts are equal."""

    code: ClassVar[str]
    """The name of the class in small letters, with hyphens."""
    exit_code: ClassVar[int]

    def __init_subclass__(cls) -> None:
        if "code" not in vars(cls):
            cls.code = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__)[1:]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Error) and type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class UsageError(Error):
    exit_code = 2


class ConfigError(Error):
    exit_code = 10


class StoreError(Error):
    exit_code = 20


class HistoryError(Error):
    """Of the inbox, too."""

    exit_code = 30


class AgentError(Error):
    exit_code = 40


class RecorderError(Error):
    exit_code = 60


class SectionError(Error):
    exit_code = 70


def _list(problems: tuple[str, ...]) -> str:
    return "; ".join(problems)


_REMOTE_HINTS = {
    "network": "Nothing on this machine was lost; run `memory sync` again when it can be reached.",
    "login": "Log in to it as git does (an ssh agent, a credential helper): memory never asks for a password.",
    "gone": "Check that the repository is there, or name another with `memory sync --remote URL`.",
    "refused": "Nothing on this machine was lost; see what it says.",
}


# -- 2: usage ---------------------------------------------------------------------------------------------------------


@frozen
class UsageInvalid(UsageError):
    """The call itself is wrong. `problem` and `hint` are whole phrases made by the surface that parsed the call."""

    code: ClassVar[str] = "usage"
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.problem}. {self.hint}".rstrip(" ") if self.hint else f"{self.problem}."


@frozen
class ActRefused(UsageError):
    """An act that raises trust, asked for inside a harness; `because` names the environment variable that showed it."""

    act: str
    because: str

    def __str__(self) -> str:
        return f"`memory {self.act}` is for a person, and {self.because} says that an agent is calling. Run it from your own terminal."


# -- 10: config -------------------------------------------------------------------------------------------------------


@frozen
class ConfigInvalid(ConfigError):
    """A config file that is not valid; every problem is listed as `path.to.key: what is wrong`."""

    path: str
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"The config {self.path} is not valid: {_list(self.problems)}. Correct it, or see `memory config --help`."
        )


@frozen
class ConfigUnreadable(ConfigError):
    """A config file that exists but cannot be read."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"The config {self.path} cannot be read: {self.reason}. Check its permissions."


@frozen
class SettingsRefused(ConfigError):
    """A harness's settings file, or our own config, that setup or uninstall must not or cannot edit; it was left as it is."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path} was left as it is: {self.reason}."


@frozen
class SchedulerFailed(ConfigError):
    """The machine's scheduler is not there, or did not take the jobs."""

    scheduler: str
    """`launchd`, `systemd` or `cron`."""
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"{self.scheduler} does not run the jobs: {self.reason}. {self.hint}"


@frozen
class HomeUnknown(ConfigError):
    """Neither HOME nor the password database says where the person's files are."""

    def __str__(self) -> str:
        return "No home directory is known, so there is no place for the memories. Set HOME to an absolute path."


# -- 20: store --------------------------------------------------------------------------------------------------------


@frozen
class StoreIo(StoreError):
    """The operating system refused `operation` on `path`; `errno_name` is its symbolic name (`ENOSPC`)."""

    path: str
    operation: str
    errno_name: str
    reason: str

    def __str__(self) -> str:
        return f"Could not {self.operation} {self.path}: {self.reason} ({self.errno_name}). Nothing was lost; run the command again once that is mended."


@frozen
class EntryNotFound(StoreError):
    """No live entry, alias or (where asked for) archived entry has this id."""

    id: str
    archived: bool = False
    """True when it is not live but is in the archive."""

    def __str__(self) -> str:
        if self.archived:
            return (
                f"{self.id} is in the archive. Use `memory read --archived {self.id}`, or `memory restore {self.id}`."
            )
        return f"There is no entry {self.id if self.id.strip() else repr(self.id)}. `memory list` shows what there is."


@frozen
class EntryUnreadable(StoreError):
    """A file in `topics/` or `archive/` that is not a valid memory entry; the file is left as it is."""

    path: str
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path} is not a valid entry: {_list(self.problems)}. It was left as it is; correct it by hand."


@frozen
class EntryInvalid(StoreError):
    """Values that would make an invalid entry, refused before anything is written."""

    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"That would not be a valid entry: {_list(self.problems)}."


@frozen
class EntryChanged(StoreError):
    """The entry's bytes are not those that the change was made from."""

    id: str

    def __str__(self) -> str:
        return f"{self.id} was changed by someone else meanwhile, so nothing was written. Look at it and try again."


@frozen
class EntryExists(StoreError):
    """Another live entry has this id or this file name."""

    id: str
    path: str

    def __str__(self) -> str:
        return f"{self.id} exists already as {self.path}."


@frozen
class EntryProtected(StoreError):
    """The rule named by `because` (for instance `secret`) forbids `act` on this entry."""

    id: str
    act: str
    because: str

    def __str__(self) -> str:
        return f"{self.id} cannot be used for {self.act}: it is {self.because}."


@frozen
class PathRefused(StoreError):
    """A path that leaves the store, or passes through a symbolic link or a special file inside it."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path} was refused: {self.reason}."


@frozen
class StateCorrupt(StoreError):
    """A file of ours under the root (state, run record, ledger) that cannot be understood; nothing was changed."""

    path: str
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path} cannot be understood: {_list(self.problems)}. Nothing was changed; move the file away to start it afresh."


@frozen
class StateInvalid(StoreError):
    """A key or a value that cannot be kept as state, refused before anything is written."""

    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"That cannot be kept as state: {_list(self.problems)}."


@frozen
class StateNotFound(StoreError):
    """Nothing is kept as state under this key."""

    key: str

    def __str__(self) -> str:
        return f"Nothing is kept under the key {self.key}. `memory state list` shows what there is."


@frozen
class RunNotFound(StoreError):
    """No run under `runs/` has this id, or begins with it; with an empty id there is none that could be meant."""

    run_id: str

    def __str__(self) -> str:
        if not self.run_id:
            return "There is no run that changed anything and still stands. `memory log` lists the runs."
        return f"There is no run {self.run_id}. `memory log` lists the runs."


@frozen
class UndoRefused(StoreError):
    """A run that cannot be undone as it stands: what it wrote was changed since, or it is undone already. Nothing was changed."""

    run_id: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"The run {self.run_id} was not undone: {_list(self.reasons)}. Nothing was changed."


# -- 30: inbox and history --------------------------------------------------------------------------------------------


@frozen
class InboxEntryInvalid(HistoryError):
    """An inbox entry, or what would become one, with every problem as `key: what is wrong`."""

    problems: tuple[str, ...]
    path: str | None = None

    def __str__(self) -> str:
        where = f"The inbox entry {self.path}" if self.path else "The inbox entry"
        return f"{where} is not valid: {_list(self.problems)}."


@frozen
class HistoryUnavailable(HistoryError):
    """The session's history is not there yet or not reachable now. Sets the entry back; never an attempt by itself."""

    session_id: str
    reason: str
    is_missing: bool = False
    """Where it was looked for, nothing of it is there: not yet, or no longer. Else it cannot be read now, and says nothing of
    what it holds (P6)."""

    def __str__(self) -> str:
        if self.is_missing:
            return f"The history of session {self.session_id} is not there: {self.reason}."
        return f"The history of session {self.session_id} is not available yet: {self.reason}. It stays in the inbox and is tried again."


@frozen
class HistoryUnreadable(HistoryError):
    """A transcript that exists and can never be read as what it claims to be: the session's own fault, one attempt."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"The transcript {self.path} cannot be read: {self.reason}."


@frozen
class TranscriptRefused(HistoryError):
    """A transcript that must not be read: outside the known roots, a FIFO, a device or a symbolic link (P27)."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"The transcript {self.path} was not read: {self.reason}."


@frozen
class SessionForgotten(HistoryError):
    """A session that a person had forgotten at `at_ms`: it is not captured, read or learnt from again (P28)."""

    session_id: str
    at_ms: int

    def __str__(self) -> str:
        day = time.strftime("%Y-%m-%d", time.gmtime(self.at_ms / 1000))
        return f"The session {self.session_id} was forgotten on {day} (`memory forget`), and is not learnt again."


# -- 40: agent command ------------------------------------------------------------------------------------------------


@frozen
class AgentMissing(AgentError):
    """The configured executable does not exist or cannot be run. Pauses the run."""

    command: str

    def __str__(self) -> str:
        return f"The agent command {self.command} was not found. Install it, or set llm.command or llm.preset (`builtin` needs nothing)."


@frozen
class AgentFailed(AgentError):
    """The command ended with a non-zero exit or a signal. `stderr_tail` is redacted. Pauses the run."""

    command: str
    exit_status: int
    stderr_tail: str

    def __str__(self) -> str:
        how = (
            f"was ended by signal {-self.exit_status}"
            if self.exit_status < 0
            else f"ended with status {self.exit_status}"
        )
        said = f": {self.stderr_tail.rstrip('.')}" if self.stderr_tail else ""
        return f"The agent command {self.command} {how}{said}. Nothing was changed; the next run tries again."


@frozen
class AgentUnavailable(AgentError):
    """The command ran but cannot serve now: `cause` is login, rate-limit, network or config. Pauses the run."""

    command: str
    cause: str
    said: str

    def __str__(self) -> str:
        return f"The agent command {self.command} cannot serve now ({self.cause}): {self.said.rstrip('.')}. Nothing was changed; the next run tries again."


@frozen
class AgentTimedOut(AgentError):
    """No reply within the limit; the whole process group was ended. Sets the entry back."""

    command: str
    seconds: float

    def __str__(self) -> str:
        return f"The agent command {self.command} gave no reply within {self.seconds:g} s. Raise llm.timeoutSeconds if it needs longer."


@frozen
class SpendExhausted(AgentError):
    """The day's calls are used up. Pauses the run until the next day (UTC)."""

    calls_today: int
    max_calls_per_day: int

    def __str__(self) -> str:
        return (
            f"Today's calls to the agent command are used up ({self.calls_today} of {self.max_calls_per_day}). "
            "The rest waits until tomorrow (UTC), or raise llm.maxCallsPerDay."
        )


@frozen
class PresetRefused(AgentError):
    """A preset that cannot switch its tools off, without `llm.allowTools`."""

    preset: str

    def __str__(self) -> str:
        return f"The preset {self.preset} cannot run without its tools. Choose another, or set llm.allowTools to true."


# -- 50: reply and plan -----------------------------------------------------------------------------------------------


@frozen
class ReplyRefused(Error):
    """A reply that is not progress: no envelope, a wrong nonce, over a limit, or empty of anything usable."""

    exit_code: ClassVar[int] = 50
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"The agent's reply was refused: {_list(self.reasons)}. Nothing was changed."


# -- 60: recorder -----------------------------------------------------------------------------------------------------


@frozen
class RecorderFailed(RecorderError):
    """Git did not record finished writes; the writes themselves are on disk (P4)."""

    command: str
    exit_status: int
    stderr_tail: str

    def __str__(self) -> str:
        return f"The notes are written, but `{self.command}` ended with status {self.exit_status}: {self.stderr_tail}. The next run records them."


@frozen
class SyncRefused(RecorderError):
    """A sync that cannot be done as things stand: `reason` is a whole phrase, `hint` says what to do. Nothing was changed."""

    reason: str
    hint: str

    def __str__(self) -> str:
        return f"Nothing was synced: {self.reason}. {self.hint}"


@frozen
class RemoteUnavailable(RecorderError):
    """The remote did not answer or did not let us in: `cause` is network, login, gone or refused; what it said is redacted.
    What is on this machine is whole; the next sync goes on from there."""

    remote: str
    operation: str
    cause: str
    said: str

    def __str__(self) -> str:
        return f"Could not {self.operation} {self.remote} ({self.cause}): {self.said.rstrip('.')}. {_REMOTE_HINTS.get(self.cause, '')}".rstrip()


# -- 70: managed section ----------------------------------------------------------------------------------------------


@frozen
class MarkersAmbiguous(SectionError):
    """A target whose markers do not enclose exactly one section; the file was left as it is (P17)."""

    path: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{self.path} was left as it is: {self.problem}. "
            "Keep one `<!-- agent-memory:start -->` and one `<!-- agent-memory:end -->` after it, or neither."
        )


@frozen
class TargetRefused(SectionError):
    """A target that must not or cannot be written; it was left as it is."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path} was left as it is: {self.reason}."


# -- 75: busy ---------------------------------------------------------------------------------------------------------


@frozen
class Busy(Error):
    """Another run holds the lock."""

    exit_code: ClassVar[int] = 75
    lock_path: str

    def __str__(self) -> str:
        return f"Another run is at work on this store ({self.lock_path}). Try again when it has finished."


# -- 3: bug -----------------------------------------------------------------------------------------------------------


@frozen
class Defect(Error):
    """An exception that no rule foresaw, caught at the one place that may: the machines' driver."""

    exit_code: ClassVar[int] = 3
    step: str
    detail: str

    def __str__(self) -> str:
        return f"A bug in agent-memory at {self.step}: {self.detail}. Nothing was lost; please report it."


ERRORS = Error
AgentMemoryError = Error
