"""Every way in which a public function can fail: one subclass of `Error` for each failure.

Inside they are raised; public functions, ports and machine steps return them as the `Failure` of a `Result` (see
`results`).

Each class has a stable `code` (used by `--json`), an `exit_code` for the process, facts as fields, and as its `str` the
sentence that people read: what happened, where, what to do next. Exit codes: 2 usage, 3 bug, 10 config, 20 store, 30
inbox or history, 40 agent, 50 reply or plan refused, 60 recorder, 70 managed section, 75 busy.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Error(Exception):
    """A foreseen failure. Two of the same class with the same facts are equal.

    The facts are the annotated fields of the class, passed by position or by name. These are plain classes because
    every command loads all of them, and attrs would take longer to build them than it takes to read a note.
    """

    fact_names: ClassVar[tuple[str, ...]]
    code: ClassVar[str]
    """The name of the class in lower case, with hyphens."""
    exit_code: ClassVar[int]
    sentence: ClassVar[str] = ""
    """The sentence that people read, with placeholders for the facts; several problems are separated by semicolons."""

    def __init_subclass__(cls, exit_code: int | None = None) -> None:
        cls.exit_code = exit_code or cls.exit_code
        if "code" not in vars(cls):
            cls.code = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__)[1:]
        own = vars(cls).get("__annotations__", {})
        cls.fact_names = tuple(name for name, kind in own.items() if not kind.startswith("ClassVar"))
        setattr(cls, "__match_args__", cls.fact_names)  # noqa: B010 -- or type checkers would take it for theirs

    def __init__(self, *facts: Any, **named: Any) -> None:
        for name in self.fact_names[len(facts) :]:
            facts += (named.pop(name) if name in named else getattr(type(self), name),)
        if named:
            raise TypeError(f"{type(self).__name__} has no {', '.join(named)}")
        super().__init__(*facts)
        vars(self).update(zip(self.fact_names, facts, strict=True))

    @property
    def facts(self) -> dict[str, Any]:
        return dict(zip(self.fact_names, self.args, strict=True))

    def __str__(self) -> str:
        shown = {
            name: fact if isinstance(fact, str | int | float | None) else "; ".join(fact)
            for name, fact in self.facts.items()
        }
        return self.sentence.format(**shown)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Error) and type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class HistoryError(Error, exit_code=30):
    """Failures of the inbox or of a session's history."""


_REMOTE_HINTS = {
    "network": "Nothing on this machine was lost; run `memory sync` again when the remote can be reached.",
    "login": "Make git log in (ssh agent, credential helper): memory never asks for a password.",
    "gone": "Check that the repository exists, or choose another with `memory sync --remote URL`.",
    "refused": "Nothing on this machine was lost; the remote said why.",
}


# -- 2: usage ---------------------------------------------------------------------------------------------------------


class UsageInvalid(Error, exit_code=2):
    """The call is wrong: `problem` says how, `hint` what to do instead."""

    code: ClassVar[str] = "usage"
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.problem}. {self.hint}".rstrip(" ") if self.hint else f"{self.problem}."


class ActRefused(Error, exit_code=2):
    """Only a person can do this; the variable in `because` shows that an agent is calling."""

    sentence = "Only you can run `memory {act}`, not an agent, and {because} says that an agent is calling. Run it in your own terminal."
    act: str
    because: str


class SwitchedOff(Error, exit_code=2):
    """Memory stays out of this project or this session; `because` is a sentence that says which switch does that."""

    sentence = "{because} Nothing was read or written."
    because: str


# -- 10: config -------------------------------------------------------------------------------------------------------


class ConfigInvalid(Error, exit_code=10):
    """The config is not valid; `problems` lists each as `path.to.key: what is wrong`."""

    sentence = "The config {path} is not valid: {problems}. Correct it; `memory config --help` helps."
    path: str
    problems: tuple[str, ...]


class ConfigUnreadable(Error, exit_code=10):
    """The config exists but cannot be read."""

    sentence = "The config {path} cannot be read: {reason}. Check its permissions."
    path: str
    reason: str


class SettingsRefused(Error, exit_code=10):
    """Setup or uninstall cannot edit a settings file; the file is unchanged."""

    sentence = "{path} was left as it is: {reason}."
    path: str
    reason: str


class SchedulerFailed(Error, exit_code=10):
    """The scheduler is missing or rejected the jobs."""

    sentence = "{scheduler} cannot run the jobs: {reason}. {hint}"
    scheduler: str
    """`launchd`, `systemd` or `cron`."""
    reason: str
    hint: str


# -- 20: store --------------------------------------------------------------------------------------------------------


class StoreIo(Error, exit_code=20):
    """The operating system refused `operation` on `path`."""

    sentence = "Could not {operation} {path}: {reason} ({errno_name}). Nothing was lost; run the command again when that is fixed."
    path: str
    operation: str
    errno_name: str
    reason: str


class EntryNotFound(Error, exit_code=20):
    """No note has this id, or only an archived one (`archived`)."""

    id: str
    archived: bool = False
    """True if the note is not live but in the archive."""
    past: str = ""
    """What runs did to a note that is gone."""

    def __str__(self) -> str:
        if self.past:
            return f"There is no note {self.id} any more: {self.past}."
        if self.archived:
            return f"{self.id} is in the archive. Use `memory read --archived {self.id}` or `memory restore {self.id}`."
        return f"There is no note {self.id if self.id.strip() else repr(self.id)}. `memory list` shows all notes."


class EntryUnreadable(Error, exit_code=20):
    """The file is not a valid note; it is unchanged."""

    sentence = "{path} is not a valid note: {problems}. The file was left as it is; correct it by hand."
    path: str
    problems: tuple[str, ...]


class EntryInvalid(Error, exit_code=20):
    """The values do not make a valid note; nothing was written."""

    sentence = "That would not be a valid note: {problems}."
    problems: tuple[str, ...]


class EntryChanged(Error, exit_code=20):
    """Somebody else changed the note meanwhile; nothing was written."""

    sentence = "{id} was changed by someone else in the meantime, so nothing was written. Look at it and try again."
    id: str


class EntryExists(Error, exit_code=20):
    """Another live note has this id or this file name."""

    sentence = "{id} already exists as {path}."
    id: str
    path: str


class EntryProtected(Error, exit_code=20):
    """The rule in `because`, such as `secret`, forbids `act` on this note."""

    sentence = "{id} is {because}, so {act} is refused."
    id: str
    act: str
    because: str


class PathRefused(Error, exit_code=20):
    """The path leaves the store, or passes through a symbolic link or a special file."""

    sentence = "{path} was refused: {reason}."
    path: str
    reason: str


class StateCorrupt(Error, exit_code=20):
    """A file of the store cannot be understood; nothing was changed."""

    sentence = (
        "{path} cannot be understood: {problems}. Nothing was changed; move the file away to start with a new one."
    )
    path: str
    problems: tuple[str, ...]


class StateInvalid(Error, exit_code=20):
    """The key or the value cannot be stored; nothing was written."""

    sentence = "That cannot be stored as state: {problems}."
    problems: tuple[str, ...]


class StateNotFound(Error, exit_code=20):
    """No value has this key."""

    sentence = "There is no state under the key {key}. `memory state list` shows all keys."
    key: str


class RunNotFound(Error, exit_code=20):
    """No run has this id, or there is none to undo."""

    run_id: str

    def __str__(self) -> str:
        if not self.run_id:
            return "There is no run left that changed something. `memory log` lists the runs."
        return f"There is no run {self.run_id}. `memory log` lists the runs."


class UndoRefused(Error, exit_code=20):
    """The run is undone already, or somebody changed what it wrote; nothing was changed."""

    sentence = "The run {run_id} cannot be undone: {reasons}. Nothing was changed."
    run_id: str
    reasons: tuple[str, ...]


# -- 30: inbox and history --------------------------------------------------------------------------------------------


class InboxEntryInvalid(HistoryError):
    """An inbox entry is not valid; `problems` lists each as `key: what is wrong`."""

    problems: tuple[str, ...]
    path: str | None = None

    def __str__(self) -> str:
        where = f"The inbox file {self.path}" if self.path else "The inbox entry"
        return f"{where} is not valid: {'; '.join(self.problems)}."


class HistoryUnavailable(HistoryError):
    """The transcript cannot be read yet; the session stays in the inbox and loses no attempt."""

    session_id: str
    reason: str
    is_missing: bool = False
    """True if nothing is where we looked. Otherwise it is unreadable, which says nothing about what it holds (P6)."""

    def __str__(self) -> str:
        if self.is_missing:
            return f"The history of session {self.session_id} is not there: {self.reason}."
        return f"The history of session {self.session_id} is not available yet: {self.reason}. It stays in the inbox, and memory will retry."


class HistoryUnreadable(HistoryError):
    """The file is not a transcript of its harness; the session loses an attempt."""

    sentence = "The transcript {path} cannot be read: {reason}."
    path: str
    reason: str


class TranscriptRefused(HistoryError):
    """The transcript is outside the known directories, or not a regular file (P27)."""

    sentence = "The transcript {path} was not read: {reason}."
    path: str
    reason: str


class SessionForgotten(HistoryError):
    """A person had memory forget this session (P28)."""

    session_id: str
    at_ms: int

    def __str__(self) -> str:
        day = time.strftime("%Y-%m-%d", time.gmtime(self.at_ms / 1000))
        return f"The session {self.session_id} was forgotten on {day} (`memory forget`), so memory does not learn from it again."


# -- 40: agent command ------------------------------------------------------------------------------------------------


class AgentMissing(Error, exit_code=40):
    """The command does not exist or cannot be run; the run pauses."""

    sentence = "The agent command {command} was not found. Install it, or set llm.command or llm.preset (`builtin` needs nothing)."
    command: str


class AgentFailed(Error, exit_code=40):
    """The command exited with an error or a signal; the run pauses."""

    command: str
    exit_status: int
    stderr_tail: str

    def __str__(self) -> str:
        status = self.exit_status
        how = f"was killed by signal {-status}" if status < 0 else f"exited with status {status}"
        said = f": {self.stderr_tail.rstrip('.')}" if self.stderr_tail else ""
        return f"The agent command {self.command} {how}{said}. Nothing was changed."


class AgentUnavailable(Error, exit_code=40):
    """The command cannot serve now: `cause` is `login`, `rate-limit`, `network` or `config`. The run pauses."""

    command: str
    cause: str
    said: str

    def __str__(self) -> str:
        return f"The agent command {self.command} is unavailable ({self.cause}): {self.said.rstrip('.')}. Nothing was changed."


class AgentTimedOut(Error, exit_code=40):
    """The command did not answer in time and was stopped; the session will be tried again."""

    sentence = (
        "The agent command {command} gave no reply within {seconds:g} s. Raise llm.timeoutSeconds if it needs longer."
    )
    command: str
    seconds: float


class SpendExhausted(Error, exit_code=40):
    """Today's calls are used up; the run pauses until tomorrow (UTC)."""

    sentence = "Today's calls to the agent command are used up ({calls_today} of {max_calls_per_day}). The rest waits until tomorrow (UTC); raise llm.maxCallsPerDay to go on now."
    calls_today: int
    max_calls_per_day: int


class PresetRefused(Error, exit_code=40):
    """The preset cannot switch its tools off, and `llm.allowTools` is not set."""

    sentence = "The preset {preset} cannot run without its tools. Choose another, or set llm.allowTools to true."
    preset: str


# -- 50: reply and plan -----------------------------------------------------------------------------------------------


class ReplyRefused(Error, exit_code=50):
    """The reply has no envelope or a wrong nonce, breaks a limit, or holds nothing usable."""

    sentence = "The agent's reply was refused: {reasons}. Nothing was changed."
    reasons: tuple[str, ...]


# -- 60: recorder -----------------------------------------------------------------------------------------------------


class RecorderFailed(Error, exit_code=60):
    """Git did not commit; the notes are on disk (P4)."""

    sentence = "The notes are written, but `{command}` exited with status {exit_status}: {stderr_tail}. The next run will record them."
    command: str
    exit_status: int
    stderr_tail: str


class SyncRefused(Error, exit_code=60):
    """The sync cannot be done in the present state; nothing was changed."""

    sentence = "Nothing was synced: {reason}. {hint}"
    reason: str
    hint: str


class RemoteUnavailable(Error, exit_code=60):
    """The remote did not answer, or refused: `cause` is `network`, `login`, `gone` or `refused`."""

    remote: str
    operation: str
    cause: str
    said: str

    def __str__(self) -> str:
        return f"Could not {self.operation} {self.remote} ({self.cause}): {self.said.rstrip('.')}. {_REMOTE_HINTS.get(self.cause, '')}".rstrip()


# -- 70: managed section ----------------------------------------------------------------------------------------------


class MarkersAmbiguous(Error, exit_code=70):
    """The file does not have exactly one section between markers; it is unchanged (P17)."""

    sentence = "{path} was left as it is: {problem}. Keep one `<!-- agent-memory:start -->` and one `<!-- agent-memory:end -->` after it, or neither."
    path: str
    problem: str


class TargetRefused(Error, exit_code=70):
    """The file must not or cannot be written; it is unchanged."""

    sentence = "{path} was left as it is: {reason}."
    path: str
    reason: str


# -- 75: busy ---------------------------------------------------------------------------------------------------------


class Busy(Error, exit_code=75):
    """Another run holds the lock."""

    sentence = "Another run is at work on this store ({lock_path}). Try again when it has finished."
    lock_path: str


# -- 3: bug -----------------------------------------------------------------------------------------------------------


class Defect(Error, exit_code=3):
    """A bug: an unforeseen exception."""

    sentence = "A bug in agent-memory at {step}: {detail}. Nothing was lost. Please report it."
    step: str
    detail: str
