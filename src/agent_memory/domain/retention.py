"""What is kept of past runs, and for how long. Nothing of anybody's knowledge depends on it: the archive holds all."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.instants import DAY_MS

KEEP_RUNS = 200
KEEP_DAYS = 180
KEEP_REPORTS_DAYS = 400


@frozen
class KeptRun:
    """One directory under `runs/`."""

    run_id: str
    started_at_ms: int
    unfinished: bool = False
    """A crash left it half done, or it is at work."""


@frozen
class Pruning:
    """What goes. A run that loses its details can be listed, but not shown or undone any more."""

    details: tuple[str, ...] = ()
    """Runs of which only the report stays."""
    whole: tuple[str, ...] = ()
    """Runs of which nothing stays."""


def prune_runs(
    runs: Iterable[KeptRun], now_ms: int, *, keep_runs: int = KEEP_RUNS, keep_days: int = KEEP_DAYS
) -> Pruning:
    """Details (replies, plans, footprints) go of runs that are neither among the newest `keep_runs` nor younger than
    `keep_days`; reports too after `KEEP_REPORTS_DAYS`. What is unfinished stays whole."""
    in_order = sorted(runs, key=lambda each: each.run_id, reverse=True)
    old = [
        each
        for each in in_order[max(keep_runs, 1) :]
        if not each.unfinished and now_ms - each.started_at_ms > keep_days * DAY_MS
    ]
    ancient = max(keep_days, KEEP_REPORTS_DAYS) * DAY_MS
    whole = tuple(each.run_id for each in old if now_ms - each.started_at_ms > ancient)
    return Pruning(tuple(each.run_id for each in old if each.run_id not in set(whole)), whole)
