"""The files of a run under `runs/<run-id>/`: checkpoint, kept reply, plan and report, all JSON.

A checkpoint holds what a run needs to finish the session in hand from `write_entries` on. What comes before that state
has no effect outside `runs/` and is simply done again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attrs import evolve
from cattrs import BaseValidationError, transform_error
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Change
from agent_memory.domain.inbox_entry import session_id_of
from agent_memory.domain.instants import iso_of
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.plan import Plan
from agent_memory.domain.queue import Outcome
from agent_memory.domain.run import KeptReply, Run, Settled, Work
from agent_memory.domain.run_log import LoggedAction, LoggedRun, logged_actions
from agent_memory.domain.run_summary import sentence_of
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.own_json import own_value
from agent_memory.formats.report_json import render_report_document
from agent_memory.formats.value_json import converter

VERSION = 1


def render_checkpoint(state: str, run: Run) -> str:
    """JSON of `{version, state, run}`; of the run only the session in hand, since the others are still pending."""
    work = run.work
    if work is not None:
        work = evolve(work, history=None, windows=(), window_index=0, request=None, reply=None, error=None)
    kept = evolve(run, queue=(), work=work, settled=(), quarantined=(), paused=None, warnings=())
    return _dump({"version": VERSION, "state": state, "run": _unstructure_run(kept)})


def parse_checkpoint(text: str, path: str) -> Result[tuple[str, Run], StateCorrupt]:
    """The state and the context that `render_checkpoint` wrote."""
    try:
        document = own_value(text)
        state = str(document["state"])
        run = document["run"]
        work = converter.structure(run["work"], Work)
        return Success(
            (
                state,
                Run(
                    id=str(run["id"]),
                    started_at_ms=int(run["started_at_ms"]),
                    work=work,
                    live_at_start=int(run["live_at_start"]),
                    changed=frozenset(run["changed"]),
                    resumed=True,
                ),
            )
        )
    except BaseValidationError as invalid:
        return Failure(StateCorrupt(path, tuple(transform_error(invalid))))
    except (ValueError, KeyError, TypeError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (str(damaged) or type(damaged).__name__,)))


def render_reply(reply: KeptReply) -> str:
    """JSON of the four facts of a kept reply."""
    return _dump({"version": VERSION, **converter.unstructure(reply)})


def parse_reply_record(text: str, path: str) -> Result[KeptReply, StateCorrupt]:
    """The kept reply that `render_reply` wrote."""
    try:
        return Success(converter.structure(own_value(text), KeptReply))
    except BaseValidationError as invalid:
        return Failure(StateCorrupt(path, tuple(transform_error(invalid))))
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (str(damaged),)))


def render_report(run: Run, ended_at_ms: int, error: Error | None, more_actions: Sequence[LoggedAction] = ()) -> str:
    """What a run did, for people and for `memory log`: sessions with their outcomes, before and after hashes.

    `more_actions` are those of sessions that the run dealt with before it was interrupted.
    """
    problem = error or run.paused
    receipts = [each.receipt for each in run.settled if each.receipt is not None]
    applied = (*run.taken_up, *(applied for receipt in receipts for applied in receipt.applied))
    logged = LoggedRun(
        run_id=run.id,
        machine="consolidate",
        started_at_ms=run.started_at_ms,
        ended_at_ms=ended_at_ms,
        result="failed" if error else "paused" if run.paused else "completed",
        summary=sentence_of(run),
        actions=(*more_actions, *logged_actions(applied)),
        dropped=tuple(dropped for each in run.settled for dropped in each.outcome.dropped),
        warnings=run.warnings,
    )
    return render_report_document(
        logged,
        problem,
        {
            "waiting": run.waiting,
            "quarantined": [{"name": each.name, "reason": each.reason} for each in run.quarantined],
            "sessions": [_session(each) for each in run.settled],
        },
    )


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """The outcome as it is stored with a processed inbox entry and in reports."""
    return {
        "verdict": outcome.verdict,
        "run": outcome.run_id,
        "at": iso_of(outcome.at_ms),
        "entries": list(outcome.entry_ids),
        "reason": outcome.reason,
        "dropped": list(outcome.dropped),
    }


def render_changes(changes: Sequence[Change]) -> str:
    """JSON of a list of changes: those that wait for the next run."""
    return _dump(plan_document(Plan(tuple(changes))))


def parse_changes(text: str, path: str) -> Result[tuple[Change, ...], StateCorrupt]:
    """The changes that `render_changes` wrote."""
    try:
        document = own_value(text)
        if not is_object(document):  # else an empty list would pass for a plan without changes (P6)
            return Failure(StateCorrupt(path, ("it is no plan",)))
        return Success(converter.structure(document, Plan).changes)
    except BaseValidationError as invalid:
        return Failure(StateCorrupt(path, tuple(transform_error(invalid))))
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (str(damaged),)))


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values."""
    document: dict[str, Any] = converter.unstructure(plan)
    return document


def _session(settled: Settled) -> dict[str, Any]:
    entry = settled.pending.entry
    return {
        "inbox": list(settled.pending.names),
        "harness": entry.harness.value,
        "session": session_id_of(entry),
        "outcome": outcome_document(settled.outcome),
        "applied": [] if settled.receipt is None else converter.unstructure(settled.receipt.applied),
    }


def _unstructure_run(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "started_at_ms": run.started_at_ms,
        "work": converter.unstructure(run.work, Work),
        "live_at_start": run.live_at_start,
        "changed": sorted(run.changed),
    }


def _dump(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
