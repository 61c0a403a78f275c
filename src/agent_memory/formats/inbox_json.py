"""The inbox entry as JSON, version 1: text ↔ value.

    {"version": 1, "timestamp": "2026-02-13T14:30:05.123Z", "harness": "amp",
     "retrieval": {"method": "amp-thread", "threadId": "T-…"},
     "context": {"cwd": "/path", "repo": "github.com/owner/repo", "branch": "…", "commit": "…"}}

`retrieval` is a union tagged by `method`. `context` and its keys may be absent. A retired entry has `outcome` besides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from returns.result import Failure, Result, Success

from agent_memory.domain.inbox_entry import (
    SESSION_METHODS,
    SNAPSHOTS,
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    SessionMethod,
)
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.queue import VERDICTS, Outcome, Verdict
from agent_memory.domain.queueing.inbox_rules import (
    MAX_PATH_BYTES,
    commit_problem,
    id_problem,
    path_problem,
    ref_problem,
    shown,
    text_problem,
    version_problem,
    word_problem,
)
from agent_memory.domain.vocabulary import Harness, Kind
from agent_memory.errors import InboxEntryInvalid
from agent_memory.formats.json_fields import Fields
from agent_memory.formats.strict_json import parse_strict_json

MAX_ENTRY_BYTES = 256 * 1024
MAX_TITLE_CHARS = 200
MAX_BODY_CHARS = 8_000
"""As long as a memory entry may be, so that a note can always be stored whole."""
MAX_TAGS = 50
MAX_TAG_CHARS = 100
MAX_OUTCOME_ITEMS = 1_000

_LAST_INSTANT_MS = 253_402_300_799_999  # the last one that four digits can say the year of

_HARNESS_OF_METHOD: Mapping[str, Harness] = {
    "amp-thread": Harness.AMP,
    "opencode-session": Harness.OPENCODE,
    **{method: Harness(method.removesuffix("-session")) for method in SESSION_METHODS},
}


def parse_inbox_entry(text: str) -> Result[InboxEntry, InboxEntryInvalid]:
    """The entry in a JSON text; on failure every problem as `key what is wrong`."""
    return _parsed(text).bind(_entry_of)


def parse_retired_entry(text: str) -> Result[tuple[InboxEntry, Outcome], InboxEntryInvalid]:
    """The entry and what became of it, as `render_retired_entry` wrote them."""
    return _parsed(text).bind(_retired_entry_of)


def render_inbox_entry(entry: InboxEntry) -> str:
    """One line of JSON; `parse_inbox_entry` gives the same entry back if it is a valid one."""
    return _rendered(_document_of(entry))


def render_retired_entry(entry: InboxEntry, outcome: Outcome) -> str:
    """The entry with `outcome` added."""
    return _rendered({**_document_of(entry), "outcome": _outcome_document(outcome)})


def _parsed(text: str) -> Result[Any, InboxEntryInvalid]:
    return parse_strict_json(text).alt(_not_an_entry)


def _not_an_entry(problem: str) -> InboxEntryInvalid:
    return InboxEntryInvalid((problem,))


def _rendered(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"


# -- reading ----------------------------------------------------------------------------------------------------------


def _entry_of(document: object) -> Result[InboxEntry, InboxEntryInvalid]:
    problems: list[str] = []
    fields = Fields(document, "", problems)
    entry = _read_entry(fields, problems)
    fields.close()
    return Failure(InboxEntryInvalid(tuple(problems))) if problems or entry is None else Success(entry)


def _retired_entry_of(document: object) -> Result[tuple[InboxEntry, Outcome], InboxEntryInvalid]:
    problems: list[str] = []
    fields = Fields(document, "", problems)
    entry = _read_entry(fields, problems)
    outcome = _read_outcome(fields.value("outcome"), problems) if fields.requires("outcome") else None
    fields.close()
    if problems or entry is None or outcome is None:
        return Failure(InboxEntryInvalid(tuple(problems)))
    return Success((entry, outcome))


def _read_entry(fields: Fields, problems: list[str]) -> InboxEntry | None:
    """None, or a value that holds only if there are no problems in the end."""
    fields.version_one()
    at_ms = _read_instant(fields, "timestamp")
    harness = fields.choice("harness", list(Harness))
    retrieval = _read_retrieval(fields.value("retrieval"), problems) if fields.requires("retrieval") else None
    context = _read_context(fields.value("context"), problems) if fields.has("context") else Context()
    if retrieval is not None and harness:
        _check_harness(fields, harness, retrieval)
    return None if problems or retrieval is None else InboxEntry(at_ms, Harness(harness), retrieval, context)


def _read_instant(fields: Fields, key: str) -> int:
    if not fields.requires(key):
        return 0
    value = fields.value(key)
    at_ms = ms_of(value) if isinstance(value, str) else None
    if at_ms is not None and 0 <= at_ms <= _LAST_INSTANT_MS:
        return at_ms
    fields.refuse(key, f"is {shown(value)}, expected an instant like 2026-02-13T14:30:05.123Z")
    return 0


def _check_harness(fields: Fields, harness: str, retrieval: Retrieval) -> None:
    owner = _HARNESS_OF_METHOD.get(retrieval.method)
    if owner is not None and owner != harness:
        fields.refuse("harness", f"is {harness!r}, but {retrieval.method} belongs to {owner}")


def _read_retrieval(document: object, problems: list[str]) -> Retrieval | None:
    fields = Fields(document, "retrieval", problems)
    method = fields.choice("method", list(_READERS))
    if not method:
        return None
    retrieval = _READERS[method](fields)
    fields.close()
    return retrieval


def _read_session_file(method: SessionMethod, fields: Fields) -> Retrieval:
    return SessionFile(method, fields.text("sessionId", id_problem), fields.optional_text("sessionPath", path_problem))


def _read_inline_note(fields: Fields) -> Retrieval:
    title = fields.text("title", partial(text_problem, max_chars=MAX_TITLE_CHARS))
    body = fields.text("body", partial(text_problem, max_chars=MAX_BODY_CHARS, lines=True))
    tags = fields.texts("tags", partial(text_problem, max_chars=MAX_TAG_CHARS), MAX_TAGS)
    kind = fields.optional_choice("kind", list(Kind))
    return InlineNote(title, body, tags, Kind(kind) if kind else None, fields.optional_text("threadId", id_problem))


_READERS: Mapping[str, Callable[[Fields], Retrieval]] = {
    "amp-thread": lambda fields: AmpThread(fields.text("threadId", id_problem)),
    **{method: partial(_read_session_file, method) for method in SESSION_METHODS},
    "file": lambda fields: FileSnapshot(fields.text("path", snapshot_path_problem)),
    "inline": _read_inline_note,
}


def snapshot_path_problem(value: object) -> str | None:
    """The path, relative to the root, of a file in the directory of the snapshots."""
    problem = text_problem(value, MAX_PATH_BYTES)
    if problem is not None or not isinstance(value, str):
        return problem
    if value.startswith("/"):
        return "is an absolute path, expected a copy inside the store; `memory capture --file` makes one"
    if any(part in ("", ".", "..") for part in value.split("/")):
        return f"is {shown(value)}, expected a plain path relative to the root"
    is_snapshot = value.rpartition("/")[0] == SNAPSHOTS
    return None if is_snapshot else f"is {shown(value)}, and only copies in {SNAPSHOTS}/ are read"


def _read_context(document: object, problems: list[str]) -> Context:
    fields = Fields(document, "context", problems)
    context = Context(
        cwd=fields.optional_text("cwd", path_problem),
        repo=fields.optional_text("repo", ref_problem),
        branch=fields.optional_text("branch", ref_problem),
        commit=fields.optional_text("commit", commit_problem),
        event=fields.optional_text("event", word_problem),
        reason=fields.optional_text("reason", word_problem),
        harness_version=fields.optional_text("harnessVersion", version_problem),
    )
    fields.close()
    return context


def _read_outcome(document: object, problems: list[str]) -> Outcome:
    fields = Fields(document, "outcome", problems)
    outcome = Outcome(
        cast("Verdict", fields.choice("verdict", VERDICTS)),
        fields.text("runId", id_problem),
        _read_instant(fields, "at"),
        fields.texts("entryIds", id_problem, MAX_OUTCOME_ITEMS),
        fields.optional_text("reason", _any_text) or "",
        fields.texts("dropped", _any_text, MAX_OUTCOME_ITEMS),
    )
    fields.close()
    return outcome


def _any_text(value: object) -> str | None:
    """Half a character too: an outcome quotes what others said, and is not written again."""
    return None if isinstance(value, str) else f"is {shown(value)}, expected text"


# -- writing ----------------------------------------------------------------------------------------------------------


def _document_of(entry: InboxEntry) -> dict[str, Any]:
    document: dict[str, Any] = {
        "version": entry.version,
        "timestamp": iso_of(entry.at_ms),
        "harness": str(entry.harness),
        "retrieval": {"method": entry.retrieval.method, **_retrieval_members(entry.retrieval)},
    }
    context = _context_members(entry.context)
    return {**document, "context": context} if context else document


def _retrieval_members(retrieval: Retrieval) -> dict[str, Any]:
    match retrieval:
        case SessionFile(_, session_id, session_path):
            return {"sessionId": session_id, **_present(sessionPath=session_path)}
        case AmpThread(thread_id):
            return {"threadId": thread_id}
        case FileSnapshot(path):
            return {"path": path}
        case InlineNote(title, body, tags, kind, thread_id):
            return {
                "title": title,
                "body": body,
                **_present(tags=list(tags) or None, kind=kind and str(kind), threadId=thread_id),
            }


def _context_members(context: Context) -> dict[str, Any]:
    return _present(
        cwd=context.cwd,
        repo=context.repo,
        branch=context.branch,
        commit=context.commit,
        event=context.event,
        reason=context.reason,
        harnessVersion=context.harness_version,
    )


def _outcome_document(outcome: Outcome) -> dict[str, Any]:
    return {
        "verdict": outcome.verdict,
        "runId": outcome.run_id,
        "at": iso_of(outcome.at_ms),
        **_present(
            entryIds=list(outcome.entry_ids) or None,
            reason=outcome.reason or None,
            dropped=list(outcome.dropped) or None,
        ),
    }


def _present(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not None}
