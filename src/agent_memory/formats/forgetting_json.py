"""The journal of a forgetting at work, `runs/forgetting.json`, and the mark of a purge, `state/purge.json`; version 1.

    {"version": 1, "at": "…", "session": "…", "harness": null, "purge": true, "ids": ["id__…"], "touched": ["id__…"],
     "paths": ["topics/…"], "titles": ["…"], "statements": ["…"], "runs": ["…"], "inbox": ["inbox/…"], "marks": ["state/…"],
     "histories": [["claude-code", "…"]]}

    {"version": 1, "at": "2026-02-13T14:30:05.123Z"}

The journal holds what is needed to find the rest of what is to go, its words included; it goes last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from attrs import field, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.defragging.kept_lines import lines_of
from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.forgetting.trace_words import TraceWords
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import Json, is_texts
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt

VERSION = 1
_LISTS = ("ids", "touched", "paths", "titles", "statements", "runs", "inbox", "marks")


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


def parse_forgetting(data: bytes, path: str) -> Result[ForgettingAtWork, StateCorrupt]:
    """What `render_forgetting` wrote; anything else is StateCorrupt."""
    match _document(data):
        case {
            "version": 1,
            "at": str(at),
            "session": (str() | None) as session_id,
            "harness": harness,
            "purge": bool(purge),
            "histories": list(histories),
            **rest,
        } if (
            (at_ms := ms_of(at)) is not None
            and (harness is None or harness in tuple(Harness))
            and all(map(_is_history, histories))
            and (texts := _texts(rest)) is not None
        ):
            named = None if harness is None else Harness(harness)
            session = None if session_id is None else SessionKey(session_id, named)
            lines = tuple(line for text in texts["statements"] for line in lines_of(text))
            words = TraceWords(frozenset(texts["ids"]), session_id, frozenset(texts["titles"]), lines)
            return Success(
                ForgettingAtWork(
                    at_ms=at_ms,
                    purge=purge,
                    words=words,
                    session=session,
                    touched_ids=frozenset(texts["touched"]),
                    paths=tuple(texts["paths"]),
                    runs=tuple(texts["runs"]),
                    inbox=tuple(texts["inbox"]),
                    marks=tuple(texts["marks"]),
                    histories=tuple((Harness(each[0]), each[1]) for each in filter(_is_history, histories)),
                )
            )
        case _:
            return Failure(StateCorrupt(path, (f"it does not tell of a forgetting in version {VERSION}",)))


def render_purge(at_ms: int) -> str:
    """JSON: since when no other copy of the history may be mixed with this one."""
    return json.dumps({"version": VERSION, "at": iso_of(at_ms)}) + "\n"


def parse_purge(data: bytes, path: str) -> Result[int, StateCorrupt]:
    """The time (epoch ms) that `render_purge` wrote; anything else is StateCorrupt, never "no purge" (P6)."""
    match _document(data):
        case {"version": 1, "at": str(at)} if (at_ms := ms_of(at)) is not None:
            return Success(at_ms)
        case _:
            return Failure(StateCorrupt(path, (f"it does not tell of a purge in version {VERSION}",)))


def _is_history(value: object) -> TypeGuard[list[str]]:
    return is_texts(value) and len(value) == 2 and value[0] in tuple(Harness)


def _texts(document: Mapping[Any, object]) -> Mapping[str, tuple[str, ...]] | None:
    """The lists of texts by key; None where one is missing or is something else."""
    found: dict[str, tuple[str, ...]] = {}
    for key in _LISTS:
        value = document.get(key)
        if not is_texts(value):
            return None
        found[key] = tuple(value)
    return found


def _document(data: bytes) -> Json:
    try:
        document: Json = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document
