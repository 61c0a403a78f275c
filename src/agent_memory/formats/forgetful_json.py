"""Records of runs without what was forgotten: text to text, whatever else they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.domain.forgetting.trace_words import FORGOTTEN, TraceWords
from agent_memory.domain.json_shape import Json, is_list, is_object
from agent_memory.errors import StateCorrupt


def forgetful_report(data: bytes, words: TraceWords, path: str) -> Result[bytes, StateCorrupt]:
    """The report of a run without the session, and without any text that states what was forgotten: `(forgotten)` is in its
    place. Ids of entries stay, so that the log still tells what the run changed. The same bytes where nothing goes."""
    match _parsed(data):
        case dict(report):
            sessions = [each for each in _list_at(report, "sessions") if is_object(each)]
            gone = [
                each for each in sessions if words.session_id is not None and each.get("session") == words.session_id
            ]
            said = frozenset(text for each in gone for text in _texts(each))
            kept = dict(report)
            if is_list(report.get("sessions")):
                kept["sessions"] = [each for each in _list_at(report, "sessions") if each not in gone]
            cleaned = _without(_without_words(kept, words), words, said)
            return Success(data if cleaned == report else _dumped(cleaned))
        case _:
            return Failure(StateCorrupt(path, ("it is not a report",)))


def forgetful_debts(data: bytes, words: TraceWords, path: str) -> Result[bytes, StateCorrupt]:
    """Commits that git still owes, without the words of those that tell of what was forgotten: their paths stay."""
    match _parsed(data):
        case list(debts):
            cleaned = [_silent_debt(each) if _is_trace(each, words) else each for each in debts]
            return Success(data if cleaned == debts else _dumped(cleaned))
        case _:
            return Failure(StateCorrupt(path, ("it is not a list of commits that are owed",)))


def _without_words(report: dict[str, Any], words: TraceWords) -> dict[str, Any]:
    """What an action says of an entry that went."""
    actions = report.get("actions")
    if not is_list(actions):
        return report
    return {**report, "actions": [_silent_action(each) if _names(each, words) else each for each in actions]}


def _names(action: object, words: TraceWords) -> bool:
    if not is_object(action):
        return False
    ids = [*_list_at(action, "ids"), *_list_at(action, "newIds")]
    return any(id in words.ids for id in ids)


def _silent_action(action: dict[str, Any]) -> dict[str, Any]:
    return {**action, "words": FORGOTTEN if action.get("words") else ""}


def _without(value: Any, words: TraceWords, said: frozenset[str]) -> Any:
    if is_object(value):
        return {key: _without(each, words, said) for key, each in value.items()}
    if is_list(value):
        return [_without(each, words, said) for each in value]
    if isinstance(value, str) and (value in said or words.is_in(value) or _is_of_session(value, words)):
        return FORGOTTEN
    return value


def _is_of_session(text: str, words: TraceWords) -> bool:
    return words.session_id is not None and words.session_id in text


def _texts(session: dict[str, Any]) -> Iterator[str]:
    """What the report says of a session besides, in other places."""
    outcome = session.get("outcome")
    for text in _list_at(outcome, "dropped") if is_object(outcome) else ():
        if isinstance(text, str) and text:
            yield text


def _is_trace(debt: object, words: TraceWords) -> bool:
    text = json.dumps(debt, ensure_ascii=False)
    return words.names_one(text) or words.is_in(text)


def _silent_debt(debt: object) -> object:
    if not is_object(debt):
        return debt
    return {**debt, "subject": FORGOTTEN, "body": "", "thread_id": None}


def _list_at(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if is_list(value) else []


def _parsed(data: bytes) -> Json:
    try:
        document: Json = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document


def _dumped(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
