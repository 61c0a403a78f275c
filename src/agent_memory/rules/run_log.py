"""What the log tells of past runs: their reports, which of them are undone, and how a person names one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from attrs import evolve, field, frozen

from agent_memory.rules.change import Applied
from agent_memory.text.instants import Instant

RunKind = Literal["consolidate", "defrag", "undo", "scope", "review", "import", "other"]
"""`other`: an act without a checkpoint that was interrupted before its report."""


@frozen
class LoggedAction:
    has_other_keys: ClassVar[bool] = True
    """Whether the JSON that it is read from has other keys."""

    kind: str
    """`create`, `replace`, `retire`, `restore`, for an undo also `remove`, or the kind of a defrag action."""
    ids: tuple[str, ...]
    """The notes that it read from or changed."""
    new_ids: tuple[str, ...] = ()
    words: str = ""
    """A sentence for people: the action, or its reason."""
    fingerprint: str = ""
    """The fingerprint of a defrag action (`plan.fingerprint_of`)."""

    @property
    def all_ids(self) -> tuple[str, ...]:
        return (*self.ids, *self.new_ids)


def without_words(actions: Iterable[LoggedAction], hidden: frozenset[str]) -> tuple[LoggedAction, ...]:
    """Returns the actions without the words about these notes."""
    return tuple(each if hidden.isdisjoint(each.all_ids) else evolve(each, words="") for each in actions)


@frozen
class LoggedSession:
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
    machine: RunKind
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
    """The undo that undid the run."""
    undid: str | None = None
    """For an undo: the run that it undid."""
    error: str = ""
    """Why it paused or failed, in words."""
    problems: tuple[str, ...] = ()
    """Why the report could not be read."""
    kept: bool = False
    """Whether its changes are on record, so that it can be shown and undone. True also where that cannot be told."""

    @property
    def told(self) -> str:
        """Returns what it did, and why it did not complete."""
        parts = [self.summary] if self.summary not in ("", self.result) else []
        if self.result not in ("completed", "unfinished"):
            why = "; ".join(self.problems) or self.error
            parts.append(self.result if why[:80] in self.summary else f"{self.result}: {why}")
        return "; ".join(parts)

    @property
    def changed_ids(self) -> frozenset[str]:
        return frozenset(id for each in self.actions for id in each.all_ids)

    def without(self, hidden: frozenset[str]) -> LoggedRun:
        """Returns the run without the words about these notes, which may be their titles."""
        if self.changed_ids.isdisjoint(hidden):
            return self
        actions = without_words(self.actions, hidden)
        summary = "changed a note that is not shown" if len(actions) == 1 else self.summary
        dropped = tuple(each for each in self.dropped if not any(id in each for id in hidden))
        return evolve(self, actions=actions, summary=summary, dropped=dropped)


def logged_actions(applied: Iterable[Applied]) -> tuple[LoggedAction, ...]:
    """Returns one action for each change that was made, with the title of its note."""
    return tuple(logged_action(each.act, each.id, each.title) for each in applied)


def logged_action(act: str, id: str, title: str) -> LoggedAction:
    """Returns the action for one note."""
    return LoggedAction(act, (), (id,), title) if act == "create" else LoggedAction(act, (id,), (), title)


def is_named(run_id: str, text: str) -> bool:
    """Returns whether a person may mean this run: by the beginning of its id, or of what follows the time in it."""
    return run_id.startswith(text) or short_id(run_id).startswith(text)


def short_id(run_id: str) -> str:
    """Returns a short name of the run: the random digits after the time."""
    return run_id.rpartition("_")[2]


@frozen
class UndoneMark:
    """A run that was undone; the undo may have been undone since."""

    by: str
    """The undo."""
    fingerprints: frozenset[str] = frozenset()
    """Fingerprints of the run's actions: while it is undone they are not made again (`plan.fingerprint_of`)."""


@frozen
class Undoing:
    """An undo in progress, recorded before it changes anything, so that it can be finished after a crash."""

    run_id: str = field(metadata={"key": "run"})
    """The id of the undo."""
    undoes: str
    started_at_ms: Instant


def undone_by(marks: Mapping[str, UndoneMark]) -> Mapping[str, str]:
    """Returns the runs that are undone at present, each with the undo in force."""
    return {run_id: mark.by for run_id, mark in marks.items() if _holds(mark.by, marks)}


def undone_fingerprints(marks: Mapping[str, UndoneMark]) -> frozenset[str]:
    """Returns the fingerprints of all actions that must not be made again, over all runs that are undone at present."""
    return frozenset(each for run_id in undone_by(marks) for each in marks[run_id].fingerprints)


def _holds(undo_id: str, marks: Mapping[str, UndoneMark]) -> bool:
    """Returns whether an undo is not undone itself. Each is undone by a later one, so the chain ends."""
    holds, seen = True, {undo_id}
    while (mark := marks.get(undo_id)) is not None and mark.by not in seen:
        holds, undo_id = not holds, mark.by
        seen.add(undo_id)
    return holds


KEEP_RUNS = 200
KEEP_DAYS = 365
MOST_RUNS = 5_000
"""How many reports are opened to look at the past, newest first: more than a year of one every two hours."""


@frozen
class Revision:
    """One commit that touched the note's file."""

    commit: str
    """Abbreviated."""
    at: str
    """ISO 8601, by the author's clock."""
    author: str
    subject: str
