"""What is known of a past run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import frozen

from agent_memory.domain.change import Applied

Machine = Literal["consolidate", "defrag", "undo"]


@frozen
class LoggedAction:
    """One thing that a run did to entries."""

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
    """`completed`, `paused` or `failed`."""
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
