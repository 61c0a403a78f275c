"""The files of our own that somebody else may have written to: what was rendered, or one error; never an exception (P6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.capture import inbox_files
from agent_memory.errors import Error
from agent_memory.files.json_lite import json_object, scan_json
from agent_memory.recall.delivery_log import delivery_of
from agent_memory.setup.config_files import TRUSTED, parse_config, set_keys
from agent_memory.setup.plan import RECEIPT
from agent_memory.setup.schedule import INSTALLED, RECORD
from agent_memory.store import bookkeeping, note_files, run_json, usage_ledger
from agent_memory.text.json_codec import Documents
from fuzz.target import Target

PATH = "state/x.json"
Parse = Callable[[bytes], Any]
Render = Callable[[Any], "str | bytes"]


def _text(parse: Callable[[str, str], Any]) -> Parse:
    def parsed(data: bytes) -> Any:
        return parse(data.decode("utf-8", "replace"), PATH)

    return parsed


def _bytes(parse: Callable[[bytes, str], Any]) -> Parse:
    return lambda data: parse(data, PATH)


def _file(codec: Documents[Any]) -> tuple[Parse, Render]:
    return _bytes(codec.parse), codec.render


def _delivery(data: bytes) -> Any:
    try:
        return delivery_of(scan_json(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def _config(data: bytes) -> Any:
    return tuple(set_keys(parse_config(data, PATH)))


DOCUMENTS: Mapping[str, tuple[Parse, Render | None]] = {
    "inbox-entry": (_text(lambda text, _: inbox_files.parse_inbox_entry(text)), inbox_files.render_inbox_entry),
    "session-mark": _file(bookkeeping.SESSION_MARK),
    "checkpoint": _file(run_json.CHECKPOINT),
    "reply-record": _file(run_json.REPLY),
    "changes": _file(run_json.CHANGES),
    "defrag-checkpoint": _file(run_json.DEFRAG_CHECKPOINT),
    "deferred": _file(run_json.DEFERRED),
    "tiering": _file(run_json.TIERING),
    "spend": _file(bookkeeping.SPEND),
    "ledger-line": (usage_ledger.parse_ledger_line, usage_ledger.render_ledger_line),
    "tiers": (_bytes(note_files.parse_tiers), note_files.render_tiers),
    "tags": _file(bookkeeping.TAG_VOCABULARY),
    "state-value": _file(bookkeeping.STATE_VALUE),
    "schedule": (_bytes(INSTALLED.parse), INSTALLED.render),
    "schedule-record": (_bytes(RECORD.parse), RECORD.render),
    "receipt": (_bytes(RECEIPT.parse), RECEIPT.render),
    "trust": (_bytes(TRUSTED.parse), TRUSTED.render),
    "undone": _file(bookkeeping.UNDONE),
    "undoing": _file(bookkeeping.UNDOING),
    "tombstone": _file(bookkeeping.TOMBSTONE),
    "forgetting": _file(bookkeeping.FORGETTING),
    "purge": _file(bookkeeping.PURGE),
    "footprint": _file(bookkeeping.FOOTPRINT),
    "journal": (_bytes(bookkeeping.parse_journal), bookkeeping.render_journal),
    "report": (_bytes(run_json.parse_report), None),
    "troubles": (_bytes(inbox_files.TROUBLES_FORMAT.parse), inbox_files.TROUBLES_FORMAT.render),
    "delivery": (_delivery, lambda delivery: json_object(delivery.members).encode("utf-8", "backslashreplace")),
    "config": (_config, None),
}


def _check(data: bytes) -> None:
    """The first line names the document."""
    name, _, content = data.partition(b"\n")
    parse, render = DOCUMENTS.get(name.decode("utf-8", "replace"), (None, None))
    if parse is None:
        return
    value = _parsed(parse, content)
    if value is None or render is None or (name == b"state-value" and value.updated_at_ms is None):
        return  # a person's own JSON is a value of the state, too, until it is written for the first time
    written = render(value)
    again = _parsed(parse, written if isinstance(written, bytes) else written.encode("utf-8", "backslashreplace"))
    if name == b"delivery":  # which compares by identity
        value, again = value.members, again.members
    if name == b"checkpoint":  # which keeps a part of the run
        value, again = written, render(again)
    assert again == value, f"written and read again, it is another: {again}, {value}"


def _parsed(parse: Parse, content: bytes) -> Any:
    """The value; None where it is refused, with reasons."""
    try:
        parsed = parse(content)
    except Error:
        return None
    if not isinstance(parsed, Result):
        return parsed
    if isinstance(parsed, Failure):
        assert parsed.failure(), "refused without a reason"
        return None
    assert isinstance(parsed, Success)
    return parsed.unwrap()


DOCUMENT = Target(
    "document",
    _check,
    (*(f"{name}\n" for name in DOCUMENTS), "version", "state", "path", "ids", "hot", "warm", "actions", "error", "details", "createdAt", "updatedAt", "harness", "codex", "create",
     "replace", "retire", "restore", "1e999", "NaN", "Infinity", "-0", "9" * 5000, "id__a1b2c3", "\ud800", "\u2028", "../x"),
)  # fmt: skip
