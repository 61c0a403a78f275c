"""The files of runs under `runs/`, all JSON.

    <run>/checkpoint.json, defrag.json   what a run needs to finish what it has begun; all before that is simply done again
    <run>/replies/<key>.json             a reply that was paid for
    <run>/report.json                    what a run did, the same for every machine (see `render_report_document`)
    deferred.json, deferred-actions.json what was over a run's limit, and waits for the next
    tiering.json                         what the last tiering was made from

Checkpoints, replies and plans hold each attribute by its name, and each member of a union with the name of its class.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_origin

from attrs import evolve, fields, resolve_types
from cattrs.preconf.json import make_converter
from cattrs.strategies import configure_tagged_union

from agent_memory.domain.actions import Archive, Deferred, DefragProposal, Edit, Merge, Rename, Retag, Split
from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.defrag_run import DefragRun, TieringMemo
from agent_memory.domain.inbox_rules import shown
from agent_memory.domain.instants import iso_of
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.plan import Plan
from agent_memory.domain.queue import AmpThread, FileSnapshot, InlineNote, Outcome, SessionFile, session_id_of
from agent_memory.domain.run import KeptReply, Run, Settled, sentence_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun, logged_actions
from agent_memory.domain.vocabulary import TierList
from agent_memory.errors import Error
from agent_memory.formats.json_codec import Documents, Format, written
from agent_memory.formats.strict_json import InvalidValue, load_bytes

# -- by the names of attributes ---------------------------------------------------------------------------------------

_converter = make_converter()
"""For what this version itself has written: unknown keys are ignored, wrong types are errors."""


def _number(value: Any, _: type) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{type(value).__name__} is no number")
    return float(value)


def _is_frozenset(type_: Any) -> bool:
    return get_origin(type_) is frozenset


_converter.register_structure_hook(float, _number)
_converter.register_unstructure_hook_func(_is_frozenset, sorted)
configure_tagged_union(Create | Replace | Retire | Restore, _converter, tag_name="change")
configure_tagged_union(SessionFile | AmpThread | FileSnapshot | InlineNote, _converter, tag_name="class")
configure_tagged_union(Merge | Split | Rename | Retag | Edit | Archive, _converter, tag_name="action")


def _load(data: bytes) -> Any:
    """An object that can be written again: an empty list would pass for a plan without changes (P6)."""
    document = load_bytes(data)
    json.dumps(document, ensure_ascii=False).encode()
    if not is_object(document):
        raise ValueError("it is not a JSON object")
    return document


def _types(cls: type) -> dict[str, Any]:
    return {each.name: each.type for each in fields(resolve_types(cls))}


def _members(value: Any, names: Sequence[str]) -> dict[str, Any]:
    """These attributes as JSON values."""
    cls: type = value.__class__
    types = _types(cls)
    return {name: _converter.unstructure(getattr(value, name), types[name]) for name in names}


def _attributes(document: Mapping[str, Any], cls: type, names: Sequence[str]) -> dict[str, Any]:
    """The attributes that were written as these members, none of which may be missing."""
    types = _types(cls)
    return {name: _converter.structure(document[name], types[name]) for name in names}


REPLY = Documents[KeptReply](
    _converter.unstructure, lambda document: _converter.structure(document, KeptReply), load=_load
)

# -- consolidate ------------------------------------------------------------------------------------------------------

_RUN = ("id", "started_at_ms", "work", "live_at_start", "changed")


def _checkpoint_document(kept: tuple[str, Run]) -> dict[str, Any]:
    """Of the run only the session in hand, since the others are still pending."""
    state, run = kept
    if (work := run.work) is not None:
        work = evolve(work, history=None, windows=(), window_index=0, request=None, reply=None, error=None)
        run = evolve(run, work=work)
    return {"state": state, "run": _members(run, _RUN)}


def _checkpoint_of(document: dict[str, Any]) -> tuple[str, Run]:
    return str(document["state"]), Run(**_attributes(document["run"], Run, _RUN), resumed=True)


CHECKPOINT = Documents(_checkpoint_document, _checkpoint_of, load=_load)
CHANGES = Documents[Sequence[Change]](
    lambda changes: plan_document(Plan(tuple(changes))),
    lambda document: _converter.structure(document, Plan).changes,
    load=_load,
)
"""What waits for the next run."""


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values."""
    document: dict[str, Any] = _converter.unstructure(plan)
    return document


# -- defrag -----------------------------------------------------------------------------------------------------------

_DEFRAG = ("id", "started_at_ms", "force", "live_at_start", "asked", "reply_key", "plan", "tiers_before", "tiers")
_MEMO = ("fingerprint", "agent", "judged", "omitted")


def _defrag_document(kept: tuple[str, DefragRun]) -> dict[str, Any]:
    """The plan, the proposed tiers and the memo; the rest is had again."""
    state, run = kept
    proposed = None if run.proposal is None else run.proposal.tiers
    more = {"proposed_tiers": _converter.unstructure(proposed), "memo": _members(run.memo, _MEMO)}
    return {"state": state, "run": {**_members(run, _DEFRAG), **more}}


def _defrag_of(document: dict[str, Any]) -> tuple[str, DefragRun]:
    kept = document["run"]
    proposed = kept["proposed_tiers"]
    proposal = DefragProposal(tiers=None if proposed is None else _converter.structure(proposed, TierList))
    run = DefragRun(**_attributes(kept, DefragRun, _DEFRAG), proposal=proposal, memo=_memo_of(kept["memo"]))
    return str(document["state"]), run


def _memo_of(document: dict[str, Any]) -> TieringMemo:
    return TieringMemo(**_attributes(document, TieringMemo, _MEMO))


# Without indents, which only the encoder in Python knows: as many findings may have been judged as there are notes.
DEFRAG_CHECKPOINT = Documents(_defrag_document, _defrag_of, load=_load, indent=None)
TIERING = Documents[TieringMemo](lambda memo: _members(memo, _MEMO), _memo_of, load=_load, indent=None)
DEFERRED = Documents[Sequence[Deferred]](
    lambda deferred: {"deferred": _converter.unstructure(tuple(deferred), tuple[Deferred, ...])},
    lambda document: _converter.structure(document["deferred"], tuple[Deferred, ...]),
    load=_load,
    indent=None,
)
"""What waits for the next run."""

# -- reports ----------------------------------------------------------------------------------------------------------

RESULTS = ("completed", "paused", "failed")
_NOT_REPORTED = ("undoneBy", "problems", "kept")


def render_report_document(run: LoggedRun, error: Error | None = None, more: Mapping[str, object] | None = None) -> str:
    """A report, version 1. `error` is why the run paused or failed; `more` are keys that the machine adds.

    {"version": 1, "run": "2026-02-13T14-30-05.123Z_4dbfbe", "machine": "defrag", "startedAt": "2026-02-13T14:30:05.123Z",
     "endedAt": "…", "result": "completed", "error": {"code": "…", "message": "…"}, "summary": "1 merged", "undid": null,
     "warnings": [], "dropped": [], "actions": [{"kind": "merge", "ids": ["id__…"], "newIds": ["id__…"], "words": "…",
     "fingerprint": "…"}]}
    """
    document: dict[str, object] = {
        "version": 1,
        "run": run.run_id,
        "machine": run.machine,
        "startedAt": iso_of(run.started_at_ms),
        "endedAt": None if run.ended_at_ms is None else iso_of(run.ended_at_ms),
        "result": run.result,
        "error": None if error is None else {"code": error.code, "message": str(error)},
        "summary": run.summary,
        "undid": run.undid,
        "warnings": list(run.warnings),
        "dropped": list(run.dropped),
        "actions": [written(each) for each in run.actions],
        **(more or {}),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def parse_report(data: bytes, path: str) -> LoggedRun:
    """The run that a report tells of; keys that are unknown or absent are no problem, wrong types are StateCorrupt.

    `undone_by` is not in the report: it is known only to the log.
    """
    return _REPORT.parse(data, path)


def _reported(document: Any) -> LoggedRun:
    if not is_object(document):
        return _LOGGED_RUN.value_of(document)
    told = {"endedAt": None, "summary": "", **document}
    if (error := told.get("error")) is not None and not is_object(error):
        raise InvalidValue(f"error is {shown(error)}, expected an object")
    told["error"] = error["message"] if error else ""
    told["sessions"] = [{**each, **each["outcome"]} for each in told.get("sessions", ())]
    return _LOGGED_RUN.value_of({key: value for key, value in told.items() if key not in _NOT_REPORTED})


def _result_problems(run: LoggedRun) -> Iterator[str]:
    if run.result not in RESULTS:
        yield f"result is {shown(run.result)}, expected one of {', '.join(RESULTS)}"


_LOGGED_RUN = Format(LoggedRun, check=_result_problems)
_REPORT = Documents[LoggedRun](lambda run: {}, _reported, load=load_bytes)


def render_report(run: Run, ended_at_ms: int, error: Error | None, more_actions: Sequence[LoggedAction] = ()) -> str:
    """The report of a consolidate run: sessions with their outcomes, before and after hashes.

    `more_actions` are those of sessions that the run dealt with before it was interrupted.
    """
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
        error or run.paused,
        {
            "waiting": run.waiting,
            "quarantined": [{"name": each.name, "reason": each.reason} for each in run.quarantined],
            "sessions": [_session(each) for each in run.settled],
        },
    )


def _session(settled: Settled) -> dict[str, Any]:
    entry = settled.pending.entry
    return {
        "inbox": list(settled.pending.names),
        "harness": entry.harness.value,
        "session": session_id_of(entry),
        "outcome": outcome_document(settled.outcome),
        "applied": [] if settled.receipt is None else _converter.unstructure(settled.receipt.applied),
    }


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """The outcome as it stands in reports and `--json`."""
    return {
        "verdict": outcome.verdict,
        "run": outcome.run_id,
        "at": iso_of(outcome.at_ms),
        "entries": list(outcome.entry_ids),
        "reason": outcome.reason,
        "dropped": list(outcome.dropped),
    }
