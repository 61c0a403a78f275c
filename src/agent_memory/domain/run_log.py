"""What is known of a past run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import ClassVar, Literal

from attrs import frozen

from agent_memory.domain.change import Applied

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

    harness: str
    session_id: str | None
    verdict: str
    reason: str
    entry_ids: tuple[str, ...]
    dropped: tuple[str, ...]


@frozen
class LoggedRun:
    """One report under `runs/`."""

    run_id: str
    machine: Machine
    started_at_ms: int
    ended_at_ms: int | None
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
        """Every entry that the run created, changed, or took away."""
        return frozenset(id for each in self.actions for id in (*each.ids, *each.new_ids))


def logged_actions(applied: Iterable[Applied]) -> tuple[LoggedAction, ...]:
    """One action for each change that was made, called by the title of its entry."""
    return tuple(
        LoggedAction(each.act, (), (each.id,), each.title)
        if each.act == "create"
        else LoggedAction(each.act, (each.id,), (), each.title)
        for each in applied
    )


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
