"""Which runs are undone. An undo is a run itself: undoing it makes what it had undone stand again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from agent_memory.domain.instants import Instant


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
