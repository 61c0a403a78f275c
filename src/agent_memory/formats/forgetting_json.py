"""What forgetting keeps as JSON, version 1: tombstones, the journal of a forgetting at work, and the mark of a purge.

    state/forgotten/*.json  {"version": 1, "session": "…", "harness": "claude-code", "at": "2026-02-13T14:30:05.123Z"}
                            {"version": 1, "entry": "id__a1b2c3", "at": "…", "statements": ["0123456789abcdef"]}
                            {"version": 1, "state": "state/keys/plan.json", "at": "…"}
    runs/forgetting.json    {"version": 1, "at": "…", "session": "…", "harness": null, "purge": true, "ids": ["id__…"],
                             "touched": ["id__…"], "paths": ["topics/…"], "titles": ["…"], "statements": ["…"], "runs": ["…"],
                             "inbox": ["inbox/…"], "marks": ["state/…"], "histories": [["claude-code", "…"]]}
    state/purge.json        {"version": 1, "at": "…"}

`harness` is null for a session of whatever harness. The journal holds what is needed to find the rest of what is to go, its
words included; it goes last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from attrs import field, frozen

from agent_memory.domain.defragging.kept_lines import lines_of
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone
from agent_memory.domain.forgetting.traces import FORGOTTEN, SessionKey, TraceWords
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import is_list, is_object, is_texts
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt

VERSION = 1
_LISTS = ("ids", "touched", "paths", "titles", "statements", "runs", "inbox", "marks")

Tombstone = SessionTombstone | EntryTombstone | StateTombstone


def _document(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _is_harness(value: object) -> bool:
    return value is None or value in tuple(Harness)


# -- tombstones -------------------------------------------------------------------------------------------------------


def render_tombstone(tombstone: Tombstone) -> str:
    """JSON with a final newline; the hashes in order."""
    document: dict[str, object]
    match tombstone:
        case SessionTombstone(session_id, harness, at_ms):
            document = {"session": session_id, "harness": harness, "at": iso_of(at_ms)}
        case EntryTombstone(id, at_ms, statements):
            document = {"entry": id, "at": iso_of(at_ms), "statements": sorted(statements)}
        case StateTombstone(path, at_ms):
            document = {"state": path, "at": iso_of(at_ms)}
    return json.dumps({"version": VERSION, **document}, ensure_ascii=True, indent=1) + "\n"


def parse_tombstone(data: bytes, path: str) -> Tombstone:
    """What `render_tombstone` wrote; anything else is StateCorrupt, never "nothing was forgotten" (P6)."""
    match _document(data):
        case {"version": 1, "session": str(session_id), "harness": harness, "at": str(at)} if (
            session_id and _is_harness(harness) and (at_ms := ms_of(at)) is not None
        ):
            return SessionTombstone(session_id, None if harness is None else Harness(harness), at_ms)
        case {"version": 1, "entry": str(id), "at": str(at), "statements": statements} if (
            is_id(id) and (at_ms := ms_of(at)) is not None and is_texts(statements)
        ):
            return EntryTombstone(id, at_ms, frozenset(statements))
        case {"version": 1, "state": str(kept_at), "at": str(at)} if kept_at and (at_ms := ms_of(at)) is not None:
            return StateTombstone(kept_at, at_ms)
        case _:
            raise StateCorrupt(path, (f"it does not tell of anything forgotten in version {VERSION}",))


# -- the journal ------------------------------------------------------------------------------------------------------


@frozen
class ForgettingAtWork:
    """A forgetting that was begun: all that is to be carried out to its end."""

    at_ms: int
    purge: bool
    words: TraceWords
    session: SessionKey | None = None
    touched_ids: frozenset[str] = field(default=frozenset())
    paths: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    inbox: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    histories: tuple[tuple[Harness, str], ...] = ()


def render_forgetting(work: ForgettingAtWork) -> str:
    """JSON."""
    session = work.session
    document = {
        "version": VERSION,
        "at": iso_of(work.at_ms),
        "session": None if session is None else session.session_id,
        "harness": None if session is None else session.harness,
        "purge": work.purge,
        "ids": sorted(work.words.ids),
        "touched": sorted(work.touched_ids),
        "paths": list(work.paths),
        "titles": sorted(work.words.titles),
        "statements": [line.text for line in work.words.statements],
        "runs": list(work.runs),
        "inbox": list(work.inbox),
        "marks": list(work.marks),
        "histories": [[harness, session_id] for harness, session_id in work.histories],
    }
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def parse_forgetting(data: bytes, path: str) -> ForgettingAtWork:
    """What `render_forgetting` wrote; anything else is StateCorrupt."""
    document = _document(data)
    match document:
        case {
            "version": 1,
            "at": str(at),
            "session": (str() | None) as session_id,
            "harness": harness,
            "purge": bool(purge),
            "histories": list(histories),
        } if (
            (at_ms := ms_of(at)) is not None
            and _is_harness(harness)
            and all(map(_is_history, histories))
            and all(is_texts(document.get(key)) for key in _LISTS)
        ):
            named = None if harness is None else Harness(harness)
            lines = tuple(line for text in document["statements"] for line in lines_of(text))
            return ForgettingAtWork(
                at_ms=at_ms,
                purge=purge,
                words=TraceWords(frozenset(document["ids"]), session_id, frozenset(document["titles"]), lines),
                session=None if session_id is None else SessionKey(session_id, named),
                touched_ids=frozenset(document["touched"]),
                paths=tuple(document["paths"]),
                runs=tuple(document["runs"]),
                inbox=tuple(document["inbox"]),
                marks=tuple(document["marks"]),
                histories=tuple((Harness(each[0]), each[1]) for each in histories),
            )
        case _:
            raise StateCorrupt(path, (f"it does not tell of a forgetting in version {VERSION}",))


def _is_history(value: object) -> TypeGuard[list[str]]:
    return is_texts(value) and len(value) == 2 and value[0] in tuple(Harness)


# -- the mark of a purge ----------------------------------------------------------------------------------------------


def render_purge(at_ms: int) -> str:
    """JSON: since when no other copy of the history may be mixed with this one."""
    return json.dumps({"version": VERSION, "at": iso_of(at_ms)}) + "\n"


def parse_purge(data: bytes, path: str) -> int:
    """The time (epoch ms) that `render_purge` wrote; anything else is StateCorrupt, never "no purge" (P6)."""
    match _document(data):
        case {"version": 1, "at": str(at)} if (at_ms := ms_of(at)) is not None:
            return at_ms
        case _:
            raise StateCorrupt(path, (f"it does not tell of a purge in version {VERSION}",))


# -- records of runs without what was forgotten -----------------------------------------------------------------------


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
