"""Changes over a run's limit: kept, and taken up first by the next run."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.domain.change import Change, Receipt
from agent_memory.domain.planning.run_limits import Admitted, admit
from agent_memory.domain.run import Run
from agent_memory.errors import Error
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.pipelines.naming import titles_of, with_titles
from agent_memory.values import evolve
from agent_memory.wording import describe


def defer(io: ConsolidateIo, changes: tuple[Change, ...]) -> Result[None, Error]:
    """Keep these for the next run; what is kept already is kept once."""
    if not changes:
        return Success(None)
    return io.runs.deferred().bind(lambda known: io.runs.put_deferred(tuple(dict.fromkeys((*known, *changes)))))


def take_up_deferred(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """Apply what earlier runs had to leave, as far as this run may; they count for its limit. Entries that changed
    meanwhile stay as they are (P8)."""

    def admitted(changes: tuple[Change, ...]) -> Result[Run, Error]:
        if not changes:
            return Success(run)
        return io.store.list().bind(lambda live: apply(admit(changes, frozenset(), len(live.entries))))

    def apply(sorted_: Admitted) -> Result[Run, Error]:
        titles = titles_of(io.store, sorted_.changes)
        return io.store.apply(sorted_.changes, run_id=run.id).bind(
            lambda receipt: io.runs.put_deferred(sorted_.deferred).map(
                lambda _: recorded(sorted_, with_titles(receipt, titles))
            )
        )

    def recorded(sorted_: Admitted, receipt: Receipt) -> Run:
        grown = evolve(run, changed=sorted_.changed, taken_up=receipt.applied)
        if not receipt.applied:
            return grown
        paths = [path for each in receipt.applied for path in each.touched]
        count = len(receipt.applied)
        changes = f"{count} change{'' if count == 1 else 's'}"
        result = io.recorder.record(paths, f"consolidate: {changes} left by earlier runs")
        if isinstance(result, Failure):
            return evolve(grown, warnings=(*run.warnings, describe(result.failure())))
        return grown

    return io.runs.deferred().bind(admitted)
