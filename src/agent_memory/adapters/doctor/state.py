"""Files of ours that hold state, and what waits in the inbox: whether each can be understood."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.chosen_command import choose_command, shown_command, uses_builtin
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import inside, is_there, read_file
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import entry_in
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.config import LlmConfig
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, trouble
from agent_memory.domain.doctor.store_checks import TIERS_FILE, Found
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import COPY, SessionMark
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_FILE, TagVocabulary
from agent_memory.errors import AgentMissing, Error, InboxEntryInvalid, PathRefused, StateCorrupt
from agent_memory.formats.bookkeeping_json import parse_session_mark
from agent_memory.results import sealed
from agent_memory.wording import describe

_STATE = "state"
_SESSIONS = "state/sessions"
_RUNS = "runs"
_RUN_STATE = ("deferred.json", "deferred-actions.json", "owed.json", "tiering.json", "undone.json", "undoing.json")
_CHECKPOINTS = ("checkpoint", "defrag")
_MAX_BYTES = 64 << 20


def examine_state(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Of the files that were seen every one below `state/` but the tier list and the vocabulary, and what lies in `runs/` beside the reports."""
    for path in _json_files(walked):
        if path in (TIERS_FILE, VOCABULARY_FILE):
            continue
        yield from _examine_mark(root, path) if path.startswith(f"{_SESSIONS}/") else _examine_json(root, path)
    for name in _RUN_STATE:
        yield from _examine_json(root, f"{_RUNS}/{name}")
    yield from _examine_checkpoints(root, walked, now_ms)


def examine_vocabulary(read: Result[TagVocabulary, Error]) -> Iterator[Finding]:
    """What keeps the tags from being held against the vocabulary."""
    if isinstance(read, Failure):
        error = read.failure()
        problem = "; ".join(error.problems) if isinstance(error, StateCorrupt) else describe(error).rstrip(".")
        yield of.DAMAGED_STATE.found(
            VOCABULARY_FILE, f"No tag is held against it: {problem}; restore it from git or a backup, or move it away"
        )


def _examine_json(root: str, path: str) -> Iterator[Finding]:
    match _read(root, path):
        case str(problem):
            yield of.DAMAGED_STATE.found(path, f"{problem}; restore it from git or a backup, or move it away")
        case bytes(data) if not _is_json(data):
            yield of.DAMAGED_STATE.found(path, "It is not JSON; restore it from git or a backup, or move it away")
        case _:  # it is not there, or is what it should be
            return


def _examine_mark(root: str, path: str) -> Iterator[Finding]:
    match _read(root, path):
        case bytes(data):
            parsed = parse_session_mark(data, path)
            problem = "; ".join(parsed.failure().problems) if isinstance(parsed, Failure) else ""
        case read:
            problem = read or ""
    if problem:
        yield of.DAMAGED_STATE.found(
            path,
            f"Its session cannot go on: {problem}; move the file away to consolidate that session from its beginning",
        )


def _examine_checkpoints(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    for each in walked:
        if stat.S_ISDIR(each.mode) and each.path.rpartition("/")[0] == _RUNS:
            for name in _CHECKPOINTS:
                yield from _examine_checkpoint(root, f"{each.path}/{name}", now_ms)


def _examine_checkpoint(root: str, stem: str, now_ms: int) -> Iterator[Finding]:
    path, aside = f"{stem}.json", f"{stem}.unreadable.json"
    match _read(root, path):
        case str(problem):
            yield of.INTERRUPTED_RUN.found(path, f"A run left this, and {problem}")
        case bytes(data) if not _is_json(data, dict):
            damaged = "A run was cut short, and what it noted of how far it had come is damaged"
            yield of.INTERRUPTED_RUN.found(path, f"{damaged}; the next run moves it aside")
        case bytes():
            yield from _examine_age(root, path, now_ms)
        case _:
            pass
    match is_there(f"{root}/{aside}"):
        case Failure(error):
            yield trouble(error, of.UNREADABLE_STORE)
        case Success(has_it) if has_it:
            yield of.INTERRUPTED_RUN.found(
                aside,
                "A run was cut short and could not be resumed, so its work was done again; this file may be removed",
            )
        case _:
            pass


def _examine_age(root: str, path: str, now_ms: int) -> Iterator[Finding]:
    try:
        age_ms = now_ms - os.lstat(f"{root}/{path}").st_mtime_ns // 1_000_000
    except FileNotFoundError:  # that run has just ended
        return
    except OSError as error:
        yield trouble(store_io(error, "look at", f"{root}/{path}"), of.UNREADABLE_STORE)
        return
    if age_ms > HOUR_MS:
        yield of.INTERRUPTED_RUN.found(path, "A run was cut short; the next one finishes it")


def _is_json(data: bytes, kind: type = object) -> bool:
    try:
        return isinstance(json.loads(data), kind)
    except (ValueError, RecursionError):
        return False


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


# -- the inbox --------------------------------------------------------------------------------------------------------


def examine_pending(root: str, names: Sequence[str], walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Every pending entry that cannot be understood, and, of the files that were seen, every snapshot that has waited an
    hour for its entry. While an entry cannot be read it may name any of them (P6)."""
    named: set[str] = set()
    is_all_read = True
    for name in names:
        match sealed(entry_in(f"{root}/{INBOX}/{name}")):
            case Success(entry):
                if entry is not None and isinstance(entry.retrieval, FileSnapshot):
                    named.add(entry.retrieval.path)
            case Failure(InboxEntryInvalid(problems)):
                yield of.MALFORMED_ENTRY.found(
                    f"{INBOX}/{name}", f"It is no inbox entry: {'; '.join(problems)}; the next run moves it aside"
                )
            case Failure(error):
                is_all_read = False
                yield of.MALFORMED_ENTRY.found(f"{INBOX}/{name}", describe(error).rstrip("."))
    for snapshot in _snapshots(walked) if is_all_read else ():
        if snapshot.path not in named and now_ms - snapshot.mtime_ms > HOUR_MS:
            yield of.ORPHAN_SNAPSHOT.found(
                snapshot.path,
                "Its capture never ended, so no run looks at it; `memory capture --file` it again, or remove it",
            )


def _snapshots(walked: Sequence[Found]) -> Iterator[Found]:
    for each in walked:
        directory, _, name = each.path.rpartition("/")
        if directory == SNAPSHOTS and not name.startswith("."):
            yield each


# -- false copies -----------------------------------------------------------------------------------------------------


def false_copies(
    marks: Iterable[Result[SessionMark, Error]], sessions: Iterable[Result[FoundSession, Error]]
) -> tuple[SessionMark, ...]:
    """The marks of copies whose transcript is there while their last record is in none of a session that is no copy. A session
    that cannot be read is one that may hold it."""
    copies = {mark.session_id: mark for each in marks if (mark := each.value_or(None)) and mark.agent_name == COPY}
    if not copies:
        return ()
    found = [session for each in sessions if (session := each.value_or(None)) is not None]
    doubtful = {session.session_id: copies[session.session_id] for session in found if session.session_id in copies}
    for session in found:
        if session.session_id in copies or session.path is None:
            continue
        try:
            with open(session.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                held = [id for id, mark in doubtful.items() if text.find(mark.last_record_id.encode()) >= 0]
        except ValueError:  # it is empty
            continue
        except OSError:
            return ()
        for id in held:
            del doubtful[id]
    return tuple(doubtful.values())


# -- the agent command ------------------------------------------------------------------------------------------------


def agent_trouble(llm: LlmConfig, environ: Mapping[str, str]) -> Error | None:
    """Why the command cannot be run: AgentMissing, ConfigInvalid, PresetRefused; None where nothing speaks against it."""
    if uses_builtin(llm):
        return None
    match sealed(choose_command(llm, home_of(environ))):
        case Failure(error):
            return error
        case Success(command):
            path = environ.get("PATH", os.defpath)
            return None if shutil.which(command.argv[0], path=path) else AgentMissing(shown_command(command.argv[:1]))
