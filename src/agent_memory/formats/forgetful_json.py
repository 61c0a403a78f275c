"""Records of runs without what was forgotten: text to text, whatever else they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_memory.domain.forgetting.traces import FORGOTTEN, TraceWords
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.errors import StateCorrupt


def forgetful_report(data: bytes, words: TraceWords, path: str) -> bytes:
    """The report of a run without the session, and without any text that states what was forgotten: `(forgotten)` is in its
    place. Ids of entries stay, so that the log still tells what the run changed. The same bytes where nothing goes."""
    report = _document(data)
    if not is_object(report):
        raise StateCorrupt(path, ("it is not a report",))
    kept = dict(report)
    said: set[str] = set()  # of a session that goes, which the report may say again elsewhere
    for session in filter(is_object, _list_at(report, "sessions")):
        if words.session_id is not None and session.get("session") == words.session_id:
            outcome = session.get("outcome")
            dropped = _list_at(outcome, "dropped") if is_object(outcome) else []
            said |= {text for text in dropped if isinstance(text, str) and text}
            kept["sessions"] = [each for each in kept["sessions"] if each is not session]
    if is_list(report.get("actions")):
        kept["actions"] = [_silent_action(each) if _names(each, words) else each for each in report["actions"]]
    cleaned = _without(kept, words, said)
    return data if cleaned == report else _dumped(cleaned)


def forgetful_commits(data: bytes, words: TraceWords, path: str) -> bytes:
    """Pending commits without the words of those that tell of what was forgotten: their paths stay."""
    commits = _document(data)
    if not is_list(commits):
        raise StateCorrupt(path, ("it is not a list of pending commits",))
    cleaned = [_silent_commit(each) if _is_trace(each, words) else each for each in commits]
    return data if cleaned == commits else _dumped(cleaned)


def _document(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _names(action: object, words: TraceWords) -> bool:
    """Whether an action is about an entry that went."""
    if not is_object(action):
        return False
    return any(id in words.ids for id in (*_list_at(action, "ids"), *_list_at(action, "newIds")))


def _silent_action(action: dict[str, Any]) -> dict[str, Any]:
    return {**action, "words": FORGOTTEN if action.get("words") else ""}


def _without(value: Any, words: TraceWords, said: set[str]) -> Any:
    if is_object(value):
        return {key: _without(each, words, said) for key, each in value.items()}
    if is_list(value):
        return [_without(each, words, said) for each in value]
    if isinstance(value, str):
        is_of_session = words.session_id is not None and words.session_id in value
        return FORGOTTEN if value in said or words.is_in(value) or is_of_session else value
    return value


def _is_trace(commit: object, words: TraceWords) -> bool:
    text = json.dumps(commit, ensure_ascii=False)
    return words.names_one(text) or words.is_in(text)


def _silent_commit(commit: object) -> object:
    return {**commit, "subject": FORGOTTEN, "body": "", "thread_id": None} if is_object(commit) else commit


def _list_at(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if is_list(value) else []


def _dumped(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
