"""The files of our own that somebody else may have written to: what was rendered, or one error; never an exception (P6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lite import json_object, scan_json
from agent_memory.adapters.surroundings.config_files import parse_config, set_keys
from agent_memory.adapters.surroundings.trust import parse_trust, render_trust
from agent_memory.domain.injecting.deliveries import delivery_of
from agent_memory.formats import (
    defrag_json,
    footprint_json,
    forgetting_json,
    inbox_json,
    journal_json,
    ledger_lines,
    queue_json,
    receipt_json,
    report_json,
    run_json,
    schedule_json,
    seen_json,
    session_mark_json,
    spend_json,
    state_value_json,
    tag_vocabulary_json,
    tiers_json,
    undone_json,
)
from agent_memory.results import as_result
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


def _delivery(data: bytes) -> Any:
    try:
        return delivery_of(scan_json(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def _config(data: bytes) -> Any:
    parsed = as_result(parse_config)(data, PATH)
    return parsed.map(lambda document: tuple(set_keys(document)))


DOCUMENTS: Mapping[str, tuple[Parse, Render | None]] = {
    "inbox-entry": (_text(lambda text, _: inbox_json.parse_inbox_entry(text)), inbox_json.render_inbox_entry),
    "retired-entry": (
        _text(lambda text, _: inbox_json.parse_retired_entry(text)),
        lambda both: inbox_json.render_retired_entry(*both),
    ),
    "session-mark": (_text(session_mark_json.parse_session_mark), session_mark_json.render_session_mark),
    "checkpoint": (_text(run_json.parse_checkpoint), lambda both: run_json.render_checkpoint(*both)),
    "reply-record": (_text(run_json.parse_reply_record), run_json.render_reply),
    "changes": (_text(run_json.parse_changes), run_json.render_changes),
    "defrag-checkpoint": (
        _text(defrag_json.parse_defrag_checkpoint),
        lambda both: defrag_json.render_defrag_checkpoint(*both),
    ),
    "deferred": (_text(defrag_json.parse_deferred), defrag_json.render_deferred),
    "tiering": (_text(defrag_json.parse_tiering), defrag_json.render_tiering),
    "spend": (_text(spend_json.parse_spend), spend_json.render_spend),
    "ledger-line": (ledger_lines.parse_ledger_line, ledger_lines.render_ledger_line),
    "tiers": (_bytes(tiers_json.parse_tiers), tiers_json.render_tiers),
    "tags": (_bytes(tag_vocabulary_json.parse_tag_vocabulary), tag_vocabulary_json.render_tag_vocabulary),
    "state-value": (
        lambda data: state_value_json.parse_state_value(data, PATH, "team/key"),
        state_value_json.render_state_value,
    ),
    "schedule": (_bytes(as_result(schedule_json.parse_installed)), schedule_json.render_installed),
    "schedule-record": (_bytes(as_result(schedule_json.parse_record)), schedule_json.render_record),
    "receipt": (_bytes(as_result(receipt_json.parse_receipt)), receipt_json.render_receipt),
    "trust": (_bytes(as_result(parse_trust)), render_trust),
    "undone": (_bytes(undone_json.parse_undone), undone_json.render_undone),
    "undoing": (_bytes(undone_json.parse_undoing), undone_json.render_undoing),
    "tombstone": (_bytes(as_result(forgetting_json.parse_tombstone)), forgetting_json.render_tombstone),
    "forgetting": (_bytes(as_result(forgetting_json.parse_forgetting)), forgetting_json.render_forgetting),
    "purge": (_bytes(as_result(forgetting_json.parse_purge)), forgetting_json.render_purge),
    "footprint": (_bytes(footprint_json.parse_footprint), footprint_json.render_footprint),
    "journal": (_bytes(journal_json.parse_journal), journal_json.render_journal),
    "report": (_bytes(report_json.parse_report), None),
    "troubles": (_text(lambda text, _: queue_json.parse_troubles(text)), queue_json.render_troubles),
    "seen": (lambda data: seen_json.parse_seen(data, "1.0"), lambda seen: seen_json.render_seen("1.0", seen)),
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
    again = _parsed(parse, written if isinstance(written, bytes) else written.encode())
    if name == b"delivery":  # which compares by identity
        value, again = value.members, again.members
    if name == b"checkpoint":  # which keeps a part of the run
        value, again = written, render(again)
    assert again == value, f"written and read again, it is another: {again}, {value}"


def _parsed(parse: Parse, content: bytes) -> Any:
    """The value; None where it is refused, with reasons."""
    parsed = parse(content)
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
