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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

from attrs import evolve, frozen
from cattrs import BaseValidationError, transform_error
from cattrs.preconf.json import make_converter
from cattrs.strategies import configure_tagged_union

from agent_memory.domain.actions import Archive, Deferred, DefragPlan, DefragProposal, Edit, Merge, Rename, Retag, Split
from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.defrag_run import DefragRun, TieringMemo
from agent_memory.domain.inbox_entry import AmpThread, FileSnapshot, InlineNote, SessionFile, session_id_of
from agent_memory.domain.instants import Instant, iso_of
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.plan import Plan
from agent_memory.domain.queue import Outcome
from agent_memory.domain.run import KeptReply, Run, Settled, Work, sentence_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun, LoggedSession, Machine, logged_actions
from agent_memory.domain.tiers import TierList
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.json_codec import Format, written
from agent_memory.formats.strict_json import load_json
from agent_memory.results import as_result
from agent_memory.wording import describe

T = TypeVar("T")

VERSION = 1

# -- by the names of attributes ---------------------------------------------------------------------------------------

_converter = make_converter()
"""For what this version itself has written: unknown keys are ignored, wrong types are errors."""


def _number(value: Any, _: type) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{type(value).__name__} is no number")
    return float(value)


_converter.register_structure_hook(float, _number)
configure_tagged_union(Create | Replace | Retire | Restore, _converter, tag_name="change")
configure_tagged_union(SessionFile | AmpThread | FileSnapshot | InlineNote, _converter, tag_name="class")
configure_tagged_union(Merge | Split | Rename | Retag | Edit | Archive, _converter, tag_name="action")


def _dump(document: Mapping[str, Any], indent: int | None = 1) -> str:
    return json.dumps({"version": VERSION, **document}, ensure_ascii=False, indent=indent) + "\n"


def _parsed(text: str, path: str, read: Callable[[dict[str, Any]], T]) -> T:
    """What `read` makes of the document; StateCorrupt for what this program cannot have written, since it could not be written
    again, and for what is no object: an empty list would pass for a plan without changes (P6)."""
    try:
        document = load_json(text)
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
        if not is_object(document):
            raise ValueError("it is not a JSON object")
        return read(document)
    except BaseValidationError as invalid:
        raise StateCorrupt(path, tuple(transform_error(invalid))) from invalid
    except (ValueError, KeyError, TypeError, AttributeError) as damaged:
        raise StateCorrupt(path, (str(damaged) or type(damaged).__name__,)) from damaged


# -- consolidate ------------------------------------------------------------------------------------------------------


def render_checkpoint(state: str, run: Run) -> str:
    """`{version, state, run}`: of the run only the session in hand, since the others are still pending."""
    work = run.work
    if work is not None:
        work = evolve(work, history=None, windows=(), window_index=0, request=None, reply=None, error=None)
    kept = {
        "id": run.id,
        "started_at_ms": run.started_at_ms,
        "work": _converter.unstructure(work, Work),
        "live_at_start": run.live_at_start,
        "changed": sorted(run.changed),
    }
    return _dump({"state": state, "run": kept})


def parse_checkpoint(text: str, path: str) -> tuple[str, Run]:
    """The state and the context that `render_checkpoint` wrote."""

    def read(document: dict[str, Any]) -> tuple[str, Run]:
        kept = document["run"]
        run = Run(
            id=str(kept["id"]),
            started_at_ms=int(kept["started_at_ms"]),
            work=_converter.structure(kept["work"], Work),
            live_at_start=int(kept["live_at_start"]),
            changed=frozenset(kept["changed"]),
            resumed=True,
        )
        return str(document["state"]), run

    return _parsed(text, path, read)


def render_reply(reply: KeptReply) -> str:
    """A kept reply."""
    return _dump(_converter.unstructure(reply))


def parse_reply_record(text: str, path: str) -> KeptReply:
    """The kept reply that `render_reply` wrote."""
    return _parsed(text, path, lambda document: _converter.structure(document, KeptReply))


def render_changes(changes: Sequence[Change]) -> str:
    """The changes that wait for the next run."""
    return json.dumps(plan_document(Plan(tuple(changes))), ensure_ascii=False, indent=1) + "\n"


@as_result
def parse_changes(text: str, path: str) -> tuple[Change, ...]:
    """The changes that `render_changes` wrote."""
    return _parsed(text, path, lambda document: _converter.structure(document, Plan).changes)


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values."""
    document: dict[str, Any] = _converter.unstructure(plan)
    return document


# -- defrag -----------------------------------------------------------------------------------------------------------


def render_defrag_checkpoint(state: str, run: DefragRun) -> str:
    """`{version, state, run}`: the plan, the proposed tiers and the memo; the rest is had again."""
    kept = {
        "id": run.id,
        "started_at_ms": run.started_at_ms,
        "force": run.force,
        "live_at_start": run.live_at_start,
        "asked": run.asked,
        "reply_key": run.reply_key,
        "plan": _converter.unstructure(run.plan),
        "proposed_tiers": _converter.unstructure(None if run.proposal is None else run.proposal.tiers),
        "memo": _memo_document(run.memo),
        "tiers_before": _converter.unstructure(run.tiers_before),
        "tiers": _converter.unstructure(run.tiers),
    }
    # Without indents, which only the encoder in Python knows: as many findings may have been judged as there are notes.
    return _dump({"state": state, "run": kept}, indent=None)


def parse_defrag_checkpoint(text: str, path: str) -> tuple[str, DefragRun]:
    """The state and the context that `render_defrag_checkpoint` wrote."""

    def read(document: dict[str, Any]) -> tuple[str, DefragRun]:
        kept = document["run"]
        run = DefragRun(
            id=str(kept["id"]),
            started_at_ms=int(kept["started_at_ms"]),
            force=bool(kept["force"]),
            live_at_start=int(kept["live_at_start"]),
            asked=bool(kept["asked"]),
            reply_key=_converter.structure(kept["reply_key"], str | None),  # type: ignore[arg-type]
            proposal=DefragProposal(tiers=_converter.structure(kept["proposed_tiers"], TierList | None)),  # type: ignore[arg-type]
            plan=_converter.structure(kept["plan"], DefragPlan),
            memo=_memo_of(kept["memo"]),
            tiers_before=_converter.structure(kept["tiers_before"], TierList),
            tiers=_converter.structure(kept["tiers"], TierList),
        )
        return str(document["state"]), run

    return _parsed(text, path, read)


def render_deferred(deferred: Sequence[Deferred]) -> str:
    """The actions that wait for the next run."""
    return _dump({"deferred": _converter.unstructure(tuple(deferred), tuple[Deferred, ...])}, indent=None)


@as_result
def parse_deferred(text: str, path: str) -> tuple[Deferred, ...]:
    """What `render_deferred` wrote."""
    return _parsed(text, path, lambda document: _converter.structure(document["deferred"], tuple[Deferred, ...]))


def render_tiering(memo: TieringMemo) -> str:
    """The memo."""
    return _dump(_memo_document(memo), indent=None)


def parse_tiering(text: str, path: str) -> TieringMemo:
    """What `render_tiering` wrote."""
    return _parsed(text, path, _memo_of)


def _memo_document(memo: TieringMemo) -> dict[str, Any]:
    return {
        "fingerprint": memo.fingerprint,
        "agent": memo.agent,
        "judged": sorted(memo.judged),
        "omitted": dict(sorted(memo.omitted.items())),
    }


def _memo_of(document: dict[str, Any]) -> TieringMemo:
    return TieringMemo(
        fingerprint=str(document["fingerprint"]),
        agent=str(document["agent"]),
        judged=frozenset(map(str, document["judged"])),
        omitted=_converter.structure(document["omitted"], dict[str, int]),
    )


# -- reports ----------------------------------------------------------------------------------------------------------

RESULTS = ("completed", "paused", "failed")


@frozen
class _ReportedOutcome:
    has_other_keys: ClassVar[bool] = True
    verdict: str
    reason: str = ""
    entries: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@frozen
class _ReportedSession:
    has_other_keys: ClassVar[bool] = True
    outcome: _ReportedOutcome
    harness: str = ""
    session: str | None = None


@frozen
class _ReportedError:
    has_other_keys: ClassVar[bool] = True
    message: str


@frozen
class _Report:
    has_other_keys: ClassVar[bool] = True
    run: str
    machine: Machine
    started_at_ms: Instant
    result: Literal["completed", "paused", "failed"]
    ended_at_ms: Instant | None = None
    summary: str = ""
    actions: tuple[LoggedAction, ...] = ()
    sessions: tuple[_ReportedSession, ...] = ()
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    undid: str | None = None
    error: _ReportedError | None = None


_REPORT = Format(_Report)


def render_report_document(run: LoggedRun, error: Error | None = None, more: Mapping[str, object] | None = None) -> str:
    """A report, version 1. `error` is why the run paused or failed; `more` are keys that the machine adds.

    {"version": 1, "run": "2026-02-13T14-30-05.123Z_4dbfbe", "machine": "defrag", "startedAt": "2026-02-13T14:30:05.123Z",
     "endedAt": "…", "result": "completed", "error": {"code": "…", "message": "…"}, "summary": "1 merged", "undid": null,
     "warnings": [], "dropped": [], "actions": [{"kind": "merge", "ids": ["id__…"], "newIds": ["id__…"], "words": "…",
     "fingerprint": "…"}]}
    """
    return _dump(
        {
            "run": run.run_id,
            "machine": run.machine,
            "startedAt": iso_of(run.started_at_ms),
            "endedAt": None if run.ended_at_ms is None else iso_of(run.ended_at_ms),
            "result": run.result,
            "error": None if error is None else {"code": error.code, "message": describe(error)},
            "summary": run.summary,
            "undid": run.undid,
            "warnings": list(run.warnings),
            "dropped": list(run.dropped),
            "actions": [written(each) for each in run.actions],
            **(more or {}),
        }
    )


def parse_report(data: bytes, path: str) -> LoggedRun:
    """The run that a report tells of; keys that are unknown or absent are no problem, wrong types are StateCorrupt.

    `undone_by` is not in the report: it is known only to the log.
    """
    report = _REPORT.parse(data, path)
    return LoggedRun(
        run_id=report.run,
        machine=report.machine,
        started_at_ms=report.started_at_ms,
        ended_at_ms=report.ended_at_ms,
        result=report.result,
        summary=report.summary,
        actions=report.actions,
        sessions=tuple(_logged_session(each) for each in report.sessions),
        dropped=report.dropped,
        warnings=report.warnings,
        undid=report.undid,
        error="" if report.error is None else report.error.message,
    )


def _logged_session(reported: _ReportedSession) -> LoggedSession:
    said = reported.outcome
    return LoggedSession(reported.harness, reported.session, said.verdict, said.reason, said.entries, said.dropped)


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
