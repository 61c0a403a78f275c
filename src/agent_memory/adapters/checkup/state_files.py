"""Files of ours that hold state: whether each can be understood."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.adapters.disk.paths import inside, read_file
from agent_memory.adapters.records.tag_vocabulary_file import TagVocabularyFile
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.file_checks import Found
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.checkup.tier_checks import TIERS_FILE
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.results import sealed
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_FILE, TagVocabulary
from agent_memory.errors import PathRefused, StateCorrupt
from agent_memory.formats.session_mark_json import parse_session_mark
from agent_memory.wording import describe

_STATE = "state"
_SESSIONS = "state/sessions"
_RUNS = "runs"
_RUN_STATE = ("deferred.json", "deferred-actions.json", "owed.json", "tiering.json", "undone.json", "undoing.json")
_CHECKPOINTS = ("checkpoint", "defrag")
_MAX_BYTES = 64 << 20


def examine_state(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Symptom]:
    """Of the files that were seen every one below `state/` but the tier list, and what lies in `runs/` beside the reports."""
    for path in _json_files(walked):
        if path == TIERS_FILE:
            continue
        if path == VOCABULARY_FILE:
            yield from _examine_vocabulary(root)
            continue
        yield from _examine_mark(root, path) if path.startswith(f"{_SESSIONS}/") else _examine_json(root, path)
    for name in _RUN_STATE:
        yield from _examine_json(root, f"{_RUNS}/{name}")
    yield from _examine_checkpoints(root, walked, now_ms)


def read_vocabulary(root: str) -> TagVocabulary:
    """The vocabulary of tags; an empty one where it cannot be understood, which `examine_state` tells."""
    return TagVocabularyFile(Path(root)).get().value_or(TagVocabulary())


def _examine_json(root: str, path: str) -> Iterator[Symptom]:
    match _read(root, path):
        case str(problem):
            yield of.DAMAGED_STATE.found(path, f"{problem}; restore it from git or a backup, or move it away")
        case bytes(data) if _parsed(data) is _NOT_JSON:
            yield of.DAMAGED_STATE.found(path, "It is not JSON; restore it from git or a backup, or move it away")
        case _:  # it is not there, or is what it should be
            return


def _examine_vocabulary(root: str) -> Iterator[Symptom]:
    read = TagVocabularyFile(Path(root)).get()
    if isinstance(read, Failure):
        error = read.failure()
        problem = "; ".join(error.problems) if isinstance(error, StateCorrupt) else describe(error).rstrip(".")
        yield of.DAMAGED_STATE.found(
            VOCABULARY_FILE, f"No tag is held against it: {problem}; restore it from git or a backup, or move it away"
        )


def _examine_mark(root: str, path: str) -> Iterator[Symptom]:
    match _read(root, path):
        case bytes(data):
            parsed = parse_session_mark(data.decode("utf-8", "replace"), path)
            problem = "; ".join(parsed.failure().problems) if isinstance(parsed, Failure) else ""
        case read:
            problem = read or ""
    if problem:
        yield of.DAMAGED_STATE.found(
            path,
            f"Its session cannot go on: {problem}; move the file away to consolidate that session from its beginning",
        )


def _examine_checkpoints(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Symptom]:
    for each in walked:
        if stat.S_ISDIR(each.mode) and each.path.rpartition("/")[0] == _RUNS:
            for name in _CHECKPOINTS:
                yield from _examine_checkpoint(root, f"{each.path}/{name}", now_ms)


def _examine_checkpoint(root: str, stem: str, now_ms: int) -> Iterator[Symptom]:
    path, aside = f"{stem}.json", f"{stem}.unreadable.json"
    match _read(root, path):
        case str(problem):
            yield of.INTERRUPTED_RUN.found(path, f"A run left this, and {problem}")
        case bytes(data) if not isinstance(_parsed(data), dict):
            damaged = "A run was cut short, and what it noted of how far it had come is damaged"
            yield of.INTERRUPTED_RUN.found(path, f"{damaged}; the next run moves it aside")
        case bytes() if _age_ms(root, path, now_ms) > HOUR_MS:
            yield of.INTERRUPTED_RUN.found(path, "A run was cut short; the next one finishes it")
        case _:
            pass
    if os.path.lexists(f"{root}/{aside}"):
        yield of.INTERRUPTED_RUN.found(
            aside, "A run was cut short and could not be resumed, so its work was done again; this file may be removed"
        )


class _NotJson:
    """Stands for a file that holds no JSON."""


_NOT_JSON = _NotJson()


def _parsed(data: bytes) -> object:
    try:
        document: object = json.loads(data)
    except (ValueError, RecursionError):
        return _NOT_JSON
    return document


def _read(root: str, path: str) -> bytes | str | None:
    """The bytes, None where there is no such file, or what is wrong with it."""
    match sealed(inside(root, path).bind(lambda absolute: read_file(absolute, _MAX_BYTES))):
        case Success(image):
            return None if image is None else image.data
        case Failure(PathRefused(_, reason)):
            return reason
        case Failure(error):
            return describe(error).rstrip(".")


def _json_files(walked: Sequence[Found]) -> Iterator[str]:
    for each in walked:
        name = each.path.rpartition("/")[2]
        if each.path.startswith(f"{_STATE}/") and name.endswith(".json") and not name.startswith("."):
            yield each.path


def _age_ms(root: str, path: str, now_ms: int) -> int:
    try:
        return now_ms - os.lstat(f"{root}/{path}").st_mtime_ns // 1_000_000
    except OSError:
        return 0
