"""The report of a run, version 1, the same for every machine: `runs/<run-id>/report.json`.

    {"version": 1, "run": "2026-02-13T14-30-05.123Z_4dbfbe", "machine": "defrag", "startedAt": "2026-02-13T14:30:05.123Z",
     "endedAt": "…", "result": "completed", "error": {"code": "…", "message": "…"}, "summary": "1 merged", "undid": null,
     "warnings": [], "dropped": [], "actions": [{"kind": "merge", "ids": ["id__…"], "newIds": ["id__…"], "words": "…",
     "fingerprint": "…"}]}

`result` is `completed`, `paused` or `failed`; `error` is null for a run that completed. A machine adds keys of its own:
consolidate has `sessions`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from returns.result import Failure, Result, Success

from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import is_list
from agent_memory.domain.run_log import LoggedAction, LoggedRun, LoggedSession, Machine
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.json_fields import Fields
from agent_memory.wording import describe

VERSION = 1
MAX_ITEMS = 100_000
_MACHINES: Mapping[str, Machine] = {each: each for each in get_args(Machine)}
RESULTS = ("completed", "paused", "failed")
_NOTHING_MORE: Mapping[str, object] = {}


def render_report_document(
    run: LoggedRun, error: Error | None = None, more: Mapping[str, object] = _NOTHING_MORE
) -> str:
    """The report's text. `error` is why the run paused or failed; `more` are keys that the machine adds."""
    return _dump(
        {
            "version": VERSION,
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
            "actions": [_action(each) for each in run.actions],
            **more,
        }
    )


def parse_report(data: bytes, path: str) -> Result[LoggedRun, StateCorrupt]:
    """The run that a report tells of; keys that are unknown or absent are no problem, wrong types are.

    `undone_by` is not in the report: it is known only to the log.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    problems: list[str] = []
    run = _run(Fields(document, "", problems), problems)
    return Failure(StateCorrupt(path, tuple(problems[:10]))) if problems else Success(run)


def _action(action: LoggedAction) -> dict[str, Any]:
    return {
        "kind": action.kind,
        "ids": list(action.ids),
        "newIds": list(action.new_ids),
        "words": action.words,
        "fingerprint": action.fingerprint,
    }


def _run(fields: Fields, problems: list[str]) -> LoggedRun:
    fields.version_one()
    return LoggedRun(
        run_id=fields.text("run", _text),
        machine=_MACHINES.get(fields.choice("machine", _MACHINES), "consolidate"),
        started_at_ms=ms_of(fields.text("startedAt", _instant)) or 0,
        ended_at_ms=None if _is_null(fields, "endedAt") else ms_of(fields.text("endedAt", _instant)),
        result=fields.choice("result", RESULTS),
        summary=fields.optional_text("summary", _text) or "",
        actions=tuple(_logged_action(each) for each in _objects(fields, "actions", problems)),
        sessions=tuple(_logged_session(each, problems) for each in _objects(fields, "sessions", problems)),
        dropped=fields.texts("dropped", _text, MAX_ITEMS),
        warnings=fields.texts("warnings", _text, MAX_ITEMS),
        undid=None if _is_null(fields, "undid") else fields.text("undid", _text),
        error=""
        if _is_null(fields, "error")
        else Fields(fields.value("error"), "error", problems).text("message", _text),
    )


def _logged_action(fields: Fields) -> LoggedAction:
    return LoggedAction(
        kind=fields.text("kind", _text),
        ids=fields.texts("ids", _text, MAX_ITEMS),
        new_ids=fields.texts("newIds", _text, MAX_ITEMS),
        words=fields.optional_text("words", _text) or "",
        fingerprint=fields.optional_text("fingerprint", _text) or "",
    )


def _logged_session(fields: Fields, problems: list[str]) -> LoggedSession:
    outcome = Fields(fields.value("outcome") if fields.requires("outcome") else {}, "outcome", problems)
    return LoggedSession(
        harness=fields.optional_text("harness", _text) or "",
        session_id=None if _is_null(fields, "session") else fields.text("session", _text),
        verdict=outcome.text("verdict", _text),
        reason=outcome.optional_text("reason", _text) or "",
        entry_ids=outcome.texts("entries", _text, MAX_ITEMS),
        dropped=outcome.texts("dropped", _text, MAX_ITEMS),
    )


def _objects(fields: Fields, key: str, problems: list[str]) -> tuple[Fields, ...]:
    value = fields.value(key) if fields.has(key) else list[Any]()
    if not is_list(value):
        fields.refuse(key, "is not a list")
        return ()
    return tuple(Fields(each, f"{key}[{index}]", problems) for index, each in enumerate(value[:MAX_ITEMS]))


def _is_null(fields: Fields, key: str) -> bool:
    """Whether a member is absent or null."""
    return not fields.has(key) or fields.value(key) is None


def _text(value: object) -> str | None:
    return None if isinstance(value, str) else "is not text"


def _instant(value: object) -> str | None:
    return None if isinstance(value, str) and ms_of(value) is not None else "is not an instant"


def _dump(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
