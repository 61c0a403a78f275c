"""How to find the past sessions of each harness, listed in one explicit dict."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from agent_memory.adapters.disk.paths import close_quietly
from agent_memory.adapters.harness import Surroundings
from agent_memory.adapters.harness.aider import aider_chats
from agent_memory.adapters.harness.aider_finder import AiderFinder
from agent_memory.adapters.harness.amp import AmpCommand
from agent_memory.adapters.harness.amp_finder import AmpFinder
from agent_memory.adapters.harness.copilot import EVENTS_FILE
from agent_memory.adapters.harness.cursor_finder import CursorFinder
from agent_memory.adapters.harness.goose_finder import GooseFinder
from agent_memory.adapters.harness.opencode_finder import OpencodeFinder
from agent_memory.adapters.harness.transcript_finder import Identifies, TranscriptFinder
from agent_memory.adapters.harness.transcript_roots import (
    TranscriptRoots,
    claude_code_roots,
    codex_roots,
    copilot_roots,
    cursor_roots,
    gemini_roots,
    goose_roots,
    is_session_id,
    opencode_roots,
    pi_roots,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import SessionFinder

_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_UUID_CHARS = 36
_HEAD_BYTES = 256 * 1024
_HEAD_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([A-Za-z0-9._-]{1,128})"')
_OF_GOOSE = re.compile(rb'\s*\{[^\n]*"(?:working_dir|message_count)"\s*:')
_OF_OPENCODE = re.compile(rb'"id"\s*:\s*"ses_')
_WITH_PARENT = re.compile(rb'"parentID"\s*:\s*"')
_OF_SUB_AGENT = re.compile(rb'"(?:thread_source"\s*:\s*"subagent"|subagent"\s*:\s*[{"])')

RootsOf = Callable[[Mapping[str, str], "str | None", tuple[str, ...]], TranscriptRoots]


def _claude_code(path: str, names: tuple[str, ...]) -> str | None:
    """`<project>/<session id>.jsonl`. Sub-agents have `agent-<id>.jsonl` beside it, or a directory of the session's."""
    return _uuid_in(names[-1].removesuffix(".jsonl")) if names[-1].endswith(".jsonl") else None


def _codex(path: str, names: tuple[str, ...]) -> str | None:
    """`<year>/<month>/<day>/rollout-<time>-<thread id>.jsonl`, unless its first line says that it is a sub-agent's."""
    name = names[-1]
    if not (name.startswith("rollout-") and name.endswith(".jsonl")):
        return None
    thread_id = _uuid_in(name.removesuffix(".jsonl")[-_UUID_CHARS:])
    first_line = _head_of(path).partition(b"\n")[0] if thread_id else b""
    return None if _OF_SUB_AGENT.search(first_line) else thread_id


def _gemini(path: str, names: tuple[str, ...]) -> str | None:
    """`<project>/chats/session-<time>-<short id>.json[l]`; the whole id is only inside. Sub-agents' are one level deeper."""
    name = names[-1]
    if not (name.startswith("session-") and name.endswith((".json", ".jsonl"))):
        return None
    if len(names) > 1 and names[-2] != "chats":
        return None
    found = _SESSION_ID.search(_head_of(path))
    return found[1].decode("ascii") if found else None


def _pi(path: str, names: tuple[str, ...]) -> str | None:
    """`<directory>/<time>_<session id>.jsonl`."""
    time, _, session_id = names[-1].removesuffix(".jsonl").rpartition("_")
    return _uuid_in(session_id) if time and names[-1].endswith(".jsonl") else None


def _copilot(path: str, names: tuple[str, ...]) -> str | None:
    """`<session id>/events.jsonl`, or `<session id>.jsonl` before 1.0.11."""
    name = names[-1]
    if name == EVENTS_FILE and len(names) > 1:
        return _uuid_in(names[-2])
    return _uuid_in(name.removesuffix(".jsonl")) if name.endswith(".jsonl") else None


def _cursor(path: str, names: tuple[str, ...]) -> str | None:
    """`<project>/agent-transcripts/<id>/<id>.jsonl`, before that `<id>.jsonl` or `<id>.txt` in `agent-transcripts`."""
    stem, ending = os.path.splitext(names[-1])
    if ending not in (".jsonl", ".txt") or "agent-transcripts" not in names[-3:-1]:
        return None
    return _uuid_in(stem) if names[-2] in ("agent-transcripts", stem) else None


def _goose(path: str, names: tuple[str, ...]) -> str | None:
    """`<session id>.jsonl`, whose first line is goose's own. The id may be any name: the person chose it."""
    session_id = names[-1].removesuffix(".jsonl")
    if not names[-1].endswith(".jsonl") or not is_session_id(session_id):
        return None
    return session_id if _OF_GOOSE.match(_head_of(path).partition(b"\n")[0]) else None


def _opencode(path: str, names: tuple[str, ...]) -> str | None:
    """`<project>/<session id>.json`, unless it names the session that it works for."""
    session_id = names[-1].removesuffix(".json")
    if len(names) != 2 or not names[-1].endswith(".json") or not is_session_id(session_id):
        return None
    head = _head_of(path)
    return session_id if _OF_OPENCODE.search(head) and not _WITH_PARENT.search(head) else None


def _files(
    harness: Harness,
    roots_of: RootsOf,
    identify: Identifies,
    max_depth: int,
    *,
    shares_record_ids: bool = False,
    in_one_file: bool = False,
) -> Callable[[Surroundings], TranscriptFinder]:
    def build(given: Surroundings) -> TranscriptFinder:
        roots = roots_of(given.environ, given.home, given.transcript_roots)
        return TranscriptFinder(harness, roots, identify, max_depth, shares_record_ids, in_one_file)

    return build


def _amp(given: Surroundings) -> SessionFinder:
    data = given.environ.get("XDG_DATA_HOME") or (f"{given.home}/.local/share" if given.home else None)
    return AmpFinder(AmpCommand(given.environ, "/"), f"{data}/amp/threads" if data else None)


def _aider(given: Surroundings) -> SessionFinder:
    """Aider keeps its chat history wherever it was called: the directories that are told, and those where other sessions
    were, are looked into."""
    chats = aider_chats(given.environ, given.home, given.transcript_roots)
    return AiderFinder(chats, given.transcript_roots, given.project_directories)


_cursor_files = _files(Harness.CURSOR, cursor_roots, _cursor, 3)


def _cursor_files_and_store(given: Surroundings) -> SessionFinder:
    return CursorFinder(_cursor_files(given))


def _goose_files_and_database(given: Surroundings) -> SessionFinder:
    return GooseFinder(_files(Harness.GOOSE, goose_roots, _goose, 1)(given))


def _opencode_files_and_databases(given: Surroundings) -> SessionFinder:
    roots = opencode_roots(given.environ, given.home, given.transcript_roots)
    storages = TranscriptRoots(tuple(f"{root}/storage/session" for root in roots.roots))
    files = TranscriptFinder(Harness.OPENCODE, storages, _opencode, 1)
    return OpencodeFinder(roots, files, given.environ.get("OPENCODE_DB"))


FINDERS: Mapping[Harness, Callable[[Surroundings], SessionFinder]] = {
    Harness.CLAUDE_CODE: _files(
        Harness.CLAUDE_CODE, claude_code_roots, _claude_code, 1, shares_record_ids=True, in_one_file=True
    ),
    Harness.CODEX: _files(Harness.CODEX, codex_roots, _codex, 4, in_one_file=True),
    Harness.CURSOR: _cursor_files_and_store,
    Harness.AMP: _amp,
    Harness.GEMINI: _files(Harness.GEMINI, gemini_roots, _gemini, 2, in_one_file=True),
    Harness.COPILOT: _files(Harness.COPILOT, copilot_roots, _copilot, 1, in_one_file=True),
    Harness.AIDER: _aider,
    Harness.GOOSE: _goose_files_and_database,
    Harness.OPENCODE: _opencode_files_and_databases,
    Harness.PI: _files(Harness.PI, pi_roots, _pi, 2, in_one_file=True),
}
"""How to find sessions, by harness: a new harness is one line, and one function that knows its files by their names."""


UNWATCHED = frozenset((Harness.AMP, Harness.GOOSE, Harness.OPENCODE))
"""Whose sessions are asked for by a command, over a network, or are in a database, which is not asked every two seconds
while its owner works."""


def session_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """A finder for every harness there is one for."""
    return {harness: build(given) for harness, build in FINDERS.items()}


def watched_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """Of the harnesses that keep sessions in files."""
    builds = {**FINDERS, Harness.CURSOR: _cursor_files}
    return {harness: build(given) for harness, build in builds.items() if harness not in UNWATCHED}


def watched_directories(finders: Mapping[Harness, SessionFinder]) -> tuple[str, ...]:
    """Where these look, whether it is there or not."""
    found = (each for finder in finders.values() if isinstance(finder, TranscriptFinder) for each in finder.roots.roots)
    return tuple(dict.fromkeys(found))


def _uuid_in(text: str) -> str | None:
    return text if _UUID.fullmatch(text) else None


def _head_of(path: str) -> bytes:
    """The first bytes of a file; none where it cannot be read, which reading the session will tell."""
    try:
        descriptor = os.open(path, _HEAD_FLAGS)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _HEAD_BYTES)
    except OSError:
        return b""
    finally:
        close_quietly(descriptor)
