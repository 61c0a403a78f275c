"""The JSON files of runs under `runs/` (docs/contributing/formats.md). Checkpoints, replies and plans have each
attribute under its name, and each member of a union with its class name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import evolve, fields

from agent_memory.errors import Error
from agent_memory.note.note import TierList
from agent_memory.rules.change import Change
from agent_memory.rules.plan import Action, Deferred, DefragProposal, Plan
from agent_memory.rules.run import DefragRun, KeptReply, Run, TieringMemo
from agent_memory.rules.run_log import LoggedRun, logged_actions
from agent_memory.session.queue import Outcome, Retrieval
from agent_memory.text.instants import iso_of
from agent_memory.text.json_codec import Converter, Documents, Format, InvalidValue, load_bytes, written
from agent_memory.text.json_shape import is_object
from agent_memory.text.value_rules import shown

# -- by the names of attributes ---------------------------------------------------------------------------------------

_OURS = Converter(by_name=True)
"""For files that this version itself has written."""
_OURS.tagged_union(Retrieval, "class", {cls.__name__: cls for cls in get_args(Retrieval)})
_OURS.tagged_union(Action, "action", {cls.__name__: cls for cls in get_args(Action)})


def _change_document(change: Change) -> dict[str, Any]:
    """Returns `{"change": "Replace", "entry": {…}, "expected_hash": "…"}`; without an entry its id, for `Retire` the
    end."""
    named = {"id": change.id} if change.entry is None else {"entry": _OURS.written(change.entry)}
    expected = {} if change.expected_hash is None else {"expected_hash": change.expected_hash}
    until = {"valid_until_ms": change.valid_until_ms} if change.act == "retire" else {}
    return {"change": change.act.capitalize(), **named, **expected, **until}


def _change_of(document: Any) -> Change:
    id = document["entry"]["meta"]["id"] if "entry" in document else document["id"]
    change: Change = Converter(by_name=True).value_of({**document, "id": id}, Change)
    if change.act.capitalize() != document["change"]:
        raise ValueError(f"is no {shown(document['change'])}")
    return change


_OURS.spell(Change, _change_document, _change_of)


def _load(data: bytes) -> Any:
    """Returns an object that can be written again: an empty list must not pass for a plan without changes (P6)."""
    document = load_bytes(data)
    json.dumps(document, ensure_ascii=False).encode()
    if not is_object(document):
        raise ValueError("it is not a JSON object")
    return document


REPLY = Documents[KeptReply](_OURS.written, lambda document: _OURS.value_of(document, KeptReply), load=_load)

# -- consolidate ------------------------------------------------------------------------------------------------------


def _checkpoint_document(kept: tuple[str, Run]) -> dict[str, Any]:
    """Returns only the session at hand, since the others are still pending."""
    state, run = kept
    if (work := run.work) is not None:
        work = evolve(work, history=None, windows=(), window_index=0, request=None, reply=None, error=None)
    bare = Run(run.id, run.started_at_ms, work=work, live_at_start=run.live_at_start, changed=run.changed)
    return {"state": state, "run": _OURS.written(bare)}


def _checkpoint_of(document: dict[str, Any]) -> tuple[str, Run]:
    run: Run = _OURS.value_of(document["run"], Run, "run")
    return str(document["state"]), evolve(run, resumed=True)


CHECKPOINT = Documents(_checkpoint_document, _checkpoint_of, load=_load)
CHANGES = Documents[Sequence[Change]](
    lambda changes: plan_document(Plan(tuple(changes))),
    lambda document: _OURS.value_of(document, Plan).changes,
    load=_load,
)
"""Work left for the next run."""


def plan_document(plan: Plan) -> dict[str, Any]:
    """Returns the plan as JSON values."""
    document: dict[str, Any] = _OURS.written(plan)
    return document


# -- defrag -----------------------------------------------------------------------------------------------------------

_HAD_AGAIN = ("scan", "analysis", "shown", "hashes", "proposal", "left", "receipt", "published", "warnings", "trouble")


def _defrag_document(kept: tuple[str, DefragRun]) -> dict[str, Any]:
    """Returns the plan, the proposed tiers and the memo; the rest is repeated."""
    state, run = kept
    known = {each.name: getattr(run, each.name) for each in fields(DefragRun) if each.name not in _HAD_AGAIN}
    proposed = None if run.proposal is None else run.proposal.tiers
    return {"state": state, "run": _OURS.written({**known, "proposed_tiers": proposed})}


def _defrag_of(document: dict[str, Any]) -> tuple[str, DefragRun]:
    run: DefragRun = _OURS.value_of(document["run"], DefragRun, "run")
    tiers: TierList | None = _OURS.value_of(document["run"]["proposed_tiers"], TierList | None, "run.proposed_tiers")
    return str(document["state"]), evolve(run, proposal=DefragProposal(tiers=tiers))


# Without indents, which only the slow Python encoder supports: there may be as many judged findings as notes.
DEFRAG_CHECKPOINT = Documents(_defrag_document, _defrag_of, load=_load, indent=None)
TIERING = Documents[TieringMemo](
    _OURS.written, lambda document: _OURS.value_of(document, TieringMemo), load=_load, indent=None
)
DEFERRED = Documents[Sequence[Deferred]](
    lambda deferred: {"deferred": _OURS.written(deferred)},
    lambda document: _OURS.value_of(document["deferred"], tuple[Deferred, ...]),
    load=_load,
    indent=None,
)
"""Work left for the next run."""

# -- reports ----------------------------------------------------------------------------------------------------------

RESULTS = ("completed", "paused", "failed")
_NOT_REPORTED = ("undoneBy", "problems", "kept")


def render_report(run: LoggedRun, error: Error | None = None, more: Mapping[str, object] | None = None) -> str:
    """Returns a report, version 1. `error` is why the run paused or failed; `more` has the machine's own keys."""
    told = {key: each for key, each in written(run).items() if key not in (*_NOT_REPORTED, "sessions")}
    why = None if error is None else {"code": error.code, "message": str(error)}
    return json.dumps({"version": 1, **told, "error": why, **(more or {})}, ensure_ascii=False, indent=1) + "\n"


def _reported(document: Any) -> LoggedRun:
    if not is_object(document):
        return _LOGGED_RUN.value_of(document)
    told = {"endedAt": None, "summary": "", **document}
    if (error := told.get("error")) is not None and not is_object(error):
        raise InvalidValue(f"error is {shown(error)}, expected an object")
    told["error"] = error["message"] if error else ""
    told["sessions"] = [{**each, **each["outcome"]} for each in told.get("sessions", ())]
    return _LOGGED_RUN.value_of({key: value for key, value in told.items() if key not in _NOT_REPORTED})


_LOGGED_RUN = Format(
    LoggedRun,
    check=lambda run: (
        () if run.result in RESULTS else (f"result is {shown(run.result)}, expected one of {', '.join(RESULTS)}",)
    ),
)
parse_report = Documents[LoggedRun](written, _reported, load=load_bytes).parse
"""Returns the run of a report; unknown or absent keys are fine. Whether it was undone is known only to the log."""


def reported(run: Run, ended_at_ms: int, error: Error | None) -> tuple[LoggedRun, Mapping[str, object]]:
    """Returns what a report tells of a consolidate run, and its further keys: sessions with their outcomes, before and
    after hashes."""
    receipts = [each.receipt for each in run.settled if each.receipt is not None]
    applied = (*run.taken_up, *(applied for receipt in receipts for applied in receipt.applied))
    logged = LoggedRun(
        run_id=run.id,
        machine="consolidate",
        started_at_ms=run.started_at_ms,
        ended_at_ms=ended_at_ms,
        result="failed" if error else "paused" if run.paused else "completed",
        summary=run.sentence,
        actions=logged_actions(applied),
        dropped=tuple(dropped for each in run.settled for dropped in each.outcome.dropped),
        warnings=run.warnings,
    )
    sessions = [
        {
            "inbox": list(each.pending.names),
            "harness": each.pending.entry.harness.value,
            "session": each.pending.entry.retrieval.session_id,
            "outcome": outcome_document(each.outcome),
            "applied": [] if each.receipt is None else _OURS.written(each.receipt.applied),
        }
        for each in run.settled
    ]
    quarantined = [{"name": each.name, "reason": each.reason} for each in run.quarantined]
    return logged, {"waiting": run.waiting, "quarantined": quarantined, "sessions": sessions}


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Returns the outcome as it is in reports and `--json`."""
    return {
        "verdict": outcome.verdict,
        "run": outcome.run_id,
        "at": iso_of(outcome.at_ms),
        "entries": list(outcome.entry_ids),
        "reason": outcome.reason,
        "dropped": list(outcome.dropped),
    }
