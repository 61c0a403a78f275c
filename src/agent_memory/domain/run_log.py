"""What is known of a past run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from typing import ClassVar, Literal

from attrs import evolve, field, frozen

from agent_memory.domain.change import Applied
from agent_memory.domain.text.file_name import EntryId
from agent_memory.domain.vocabulary import DAY_MS, Harness, Instant

Machine = Literal["consolidate", "defrag", "undo", "scope"]


@frozen
class LoggedAction:
    """One thing that a run did to entries."""

    has_other_keys: ClassVar[bool] = True
    """Of the JSON that it is read from."""

    kind: str
    """`create`, `replace`, `retire`, `restore`, of an undo also `remove`, or the kind of a defrag action."""
    ids: tuple[str, ...]
    """Entries that it took from or changed."""
    new_ids: tuple[str, ...] = ()
    words: str = ""
    """What was done, or why, for people."""
    fingerprint: str = ""
    """Of a defrag action (`actions.fingerprint_of`)."""


@frozen
class LoggedSession:
    """What a consolidate run made of one session."""

    has_other_keys: ClassVar[bool] = True

    harness: str = ""
    session_id: str | None = field(default=None, metadata={"key": "session"})
    verdict: str = ""
    reason: str = ""
    entry_ids: tuple[str, ...] = field(default=(), metadata={"key": "entries"})
    dropped: tuple[str, ...] = ()


@frozen
class LoggedRun:
    """One report under `runs/`."""

    has_other_keys: ClassVar[bool] = True

    run_id: str = field(metadata={"key": "run"})
    machine: Machine
    started_at_ms: Instant
    ended_at_ms: Instant | None
    result: str
    """`completed`, `paused` or `failed`; `unfinished` for one without a report, `unreadable` for one with problems."""
    summary: str
    """One line for people."""
    actions: tuple[LoggedAction, ...] = ()
    sessions: tuple[LoggedSession, ...] = ()
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    undone_by: str | None = None
    """The undo run that undid it."""
    undid: str | None = None
    """Of an undo: the run that it undid."""
    error: str = ""
    """Why it paused or failed, in words."""
    problems: tuple[str, ...] = ()
    """Why the report could not be read."""
    kept: bool = False
    """What it changed is kept: it can be shown and undone. True also where that cannot be told."""

    @property
    def changed_ids(self) -> frozenset[str]:
        return frozenset(id for each in self.actions for id in (*each.ids, *each.new_ids))


def logged_actions(applied: Iterable[Applied]) -> tuple[LoggedAction, ...]:
    """One action for each change that was made, called by the title of its entry."""
    return tuple(logged_action(each.act, each.id, each.title) for each in applied)


def logged_action(act: str, id: str, title: str) -> LoggedAction:
    """What was done to one entry."""
    return LoggedAction(act, (), (id,), title) if act == "create" else LoggedAction(act, (id,), (), title)


def changed_entries(runs: Iterable[LoggedRun], count: int) -> tuple[frozenset[str], ...]:
    """The entries that were there before and that each of the first `count` runs changed which changed any; undos, and
    runs that are undone, left out."""
    standing = (run for run in runs if run.machine != "undo" and run.undone_by is None)
    changed = (frozenset(id for action in run.actions for id in action.ids) for run in standing)
    return tuple(islice((ids for ids in changed if ids), count))


def is_named(run_id: str, text: str) -> bool:
    """Whether a person may mean this run: the beginning of its id, or of what follows the time in it."""
    return run_id.startswith(text) or short_id(run_id).startswith(text)


def short_id(run_id: str) -> str:
    """What names the run briefly: the random digits after the time."""
    return run_id.rpartition("_")[2]


@frozen
class UndoneMark:
    """A run was undone, and may since have been made to stand again."""

    by: str
    """The undo run."""
    fingerprints: frozenset[str] = frozenset()
    """Of the run's actions: while it is undone they are not made again (`actions.fingerprint_of`)."""


@frozen
class Undoing:
    """An undo at work: known before it changes anything, so that whoever comes after a crash can finish it."""

    run_id: str = field(metadata={"key": "run"})
    """Of the undo."""
    undoes: str
    started_at_ms: Instant


def undone_by(marks: Mapping[str, UndoneMark]) -> Mapping[str, str]:
    """The runs that are undone at present, each with the undo that holds it down."""
    return {run_id: mark.by for run_id, mark in marks.items() if _holds(mark.by, marks)}


def undone_fingerprints(marks: Mapping[str, UndoneMark]) -> frozenset[str]:
    """What is not to be made again, of all runs that are undone at present."""
    return frozenset(each for run_id in undone_by(marks) for each in marks[run_id].fingerprints)


def churning(runs: Iterable[frozenset[str]], *, of: int = 10, at_least: int = 3) -> frozenset[str]:
    """The ids that occur in at least so many of the first `of` sets: entries that every run rewrites are left alone."""
    recent = [ids for _, ids in zip(range(of), runs, strict=False)]
    return frozenset(id for ids in recent for id in ids if sum(id in each for each in recent) >= at_least)


def _holds(undo_id: str, marks: Mapping[str, UndoneMark]) -> bool:
    """Whether an undo is not undone itself. Each is undone by a later one, so the chain ends."""
    holds, seen = True, {undo_id}
    while (mark := marks.get(undo_id)) is not None and mark.by not in seen:
        holds, undo_id = not holds, mark.by
        seen.add(undo_id)
    return holds


KEEP_RUNS = 200
KEEP_DAYS = 180
KEEP_REPORTS_DAYS = 400
MOST_RUNS = 5_000
"""Reports that are opened to tell of the past, the newest first: more than a year of one every two hours."""


@frozen
class KeptRun:
    """One directory under `runs/`."""

    run_id: str
    started_at_ms: int
    unfinished: bool = False
    """A crash left it half done, or it is at work."""


def prune_runs(
    runs: Iterable[KeptRun], now_ms: int, *, keep_runs: int = KEEP_RUNS, keep_days: int = KEEP_DAYS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The runs of which only the report stays, and those of which nothing does. Details (replies, plans, footprints) go of runs that are neither among the newest `keep_runs` nor younger than
    `keep_days`; reports too after `KEEP_REPORTS_DAYS`. What is unfinished stays whole."""
    in_order = sorted(runs, key=lambda each: each.run_id, reverse=True)
    old = [
        each
        for each in in_order[max(keep_runs, 1) :]
        if not each.unfinished and now_ms - each.started_at_ms > keep_days * DAY_MS
    ]
    ancient = max(keep_days, KEEP_REPORTS_DAYS) * DAY_MS
    whole = tuple(each.run_id for each in old if now_ms - each.started_at_ms > ancient)
    return tuple(each.run_id for each in old if each.run_id not in set(whole)), whole


# -- histories --------------------------------------------------------------------------------------------------------
# A session, normalised: a history of turns.


UNKNOWN_TYPE = "unknown-type:"
"""How the reasons in `History.skipped` begin that stand for records of a kind not known to us."""


class Role(StrEnum):
    """Who a turn comes from. `tool` is everything that neither the person nor the agent said: results, pages, files."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@frozen
class ToolCall:
    """One use of a tool inside an agent turn."""

    name: str
    """The harness's name of it: `Bash`, `Edit`, `mcp__x__y`."""
    brief: str
    """What it was asked to do on one line: the command, the query, the path, at most 400 characters; or what it wrote
    and in place of what, about 250 characters of code or 2,000 of a document."""
    path: str | None = field(default=None, metadata={"sparse": True})
    writes: bool = field(default=False, metadata={"sparse": True})


@frozen
class Turn:
    """One utterance. Blocks of one assistant message are one turn; each tool result is a turn of its own. The metadata say how a
    turn is kept (`formats.history_lines`)."""

    number: int
    """From 1, over the whole session, whatever part of it this history holds."""
    role: Role
    text: str
    record_id: str = field(metadata={"key": "record"})
    """The harness's id of the (last) record behind the turn: the unit of the session mark."""
    at_ms: int | None = field(default=None, metadata={"sparse": True})
    tool_calls: tuple[ToolCall, ...] = field(default=(), metadata={"key": "calls", "sparse": True})
    """Of an agent turn."""
    tool_name: str | None = field(default=None, metadata={"key": "tool", "sparse": True})
    """Of a tool turn: which tool answered, when known."""
    failed: bool = field(default=False, metadata={"sparse": True})
    """Of a tool turn: the tool reported an error."""
    clipped_chars: int = field(default=0, metadata={"key": "clipped", "sparse": True})
    """How many characters of the original are not in `text`."""


@frozen
class History:
    """The turns of one session after its mark, in order.

    `turns` may be empty: nothing new. `remaining` says that the source stopped at its size bound and holds more turns
    after the last one; the caller marks these and asks again.
    """

    harness: Harness
    session_id: str
    turns: tuple[Turn, ...]
    title: str | None = None
    cwd: str | None = None
    also_in: tuple[str, ...] = ()
    """Other directories in which the person spoke: a session that went on in another checkout is at home in both."""
    branch: str | None = None
    agent: str | None = None
    started_at_ms: int | None = None
    """Of the whole session, not of this part."""
    ended_at_ms: int | None = None
    """Time of the last turn here."""
    tools_answered_before: bool = False
    """Whether the session had tool output before the first turn here."""
    remaining: bool = False
    transcript: str = ""
    """Which of the files that the session may be in this was read from (`transcript_key`); empty where it is in none."""
    automated: bool = False
    """No person took part: a scheduled or scripted run."""
    own_call: bool = False
    """The session is one of our own agent calls (recognised by the prompt marker)."""
    skipped: dict[str, int] = field(factory=dict[str, int])
    """Records left out, counted by reason (`unknown-type:foo`, `bad-line`, `line-too-long`)."""

    @property
    def unknown_records(self) -> int:
        """How many records were of kinds not known to us: many of them, and the harness's format has changed."""
        return sum(count for reason, count in self.skipped.items() if reason.startswith(UNKNOWN_TYPE))


@frozen
class TranscriptEnd:
    """How far one of several files of a session has been consolidated; the members are those of `SessionMark`."""

    transcript: str
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    turns_seen: int


COPY = "copy"
"""The agent name in the mark of a session of which all that it was looked at for is in another session."""


@frozen
class SessionMark:
    """How far a session has been consolidated. One JSON file a session in `state/sessions/`."""

    harness: Harness
    session_id: str
    last_record_id: str
    last_at_ms: int | None = field(metadata={"sparse": True})
    """Time of that record: where the id is gone (a rewritten transcript), later records are new."""
    turns_seen: int
    """Turn number of the last turn consolidated; numbering goes on from here."""
    tools_answered: bool
    agent_name: str = field(metadata={"key": "agent"})
    """The agent command that consolidated it (`builtin`, a preset, or `command:<hash>`)."""
    handoff_id: EntryId | None = field(default=None, metadata={"sparse": True})
    """The session's handoff entry, updated in place as the session grows."""
    entry_ids: tuple[EntryId, ...] = ()
    used_ids: tuple[EntryId, ...] = field(default=(), metadata={"sparse": True})
    """Entries whose use in the session is in the usage ledger."""
    transcript: str = field(default="", metadata={"sparse": True})
    """The file that the record is in (`transcript_key`). A mark without one counts for every file of the session."""
    elsewhere: tuple[TranscriptEnd, ...] = field(default=(), metadata={"sparse": True})
    """The ends in its other files: a session that was resumed in another directory, or copied, goes on in each by itself."""

    @property
    def ends(self) -> tuple[TranscriptEnd, ...]:
        """Where consolidation stopped in each file, the latest first."""
        return (
            TranscriptEnd(self.transcript, self.last_record_id, self.last_at_ms, self.turns_seen),
            *self.elsewhere,
        )

    def within(self, transcript: str) -> SessionMark | None:
        """The mark as it stands in one of the session's files; None in one of which nothing was consolidated so far."""
        end = next((end for end in self.ends if end.transcript == transcript), None)
        if end is None:
            return None if transcript and (self.transcript or self.elsewhere) else self
        others = tuple(other for other in self.ends if other is not end)
        return evolve(
            self,
            transcript=transcript,
            last_record_id=end.last_record_id,
            last_at_ms=end.last_at_ms,
            turns_seen=end.turns_seen,
            elsewhere=others,
        )


def transcript_key(path: str) -> str:
    """A short name of a transcript: its path says more than the store is to keep."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]
