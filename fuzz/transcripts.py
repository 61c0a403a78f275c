"""Transcripts of every harness: read, cut, redacted, extracted from, kept; nothing raises, whatever somebody wrote."""

from __future__ import annotations

import atexit
import json
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.agent.child_process import Finished
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.extraction.extract import extracted
from agent_memory.files.lines import objects_in
from agent_memory.harness.aider import CHAT_FILE, AiderChats
from agent_memory.harness.amp import AmpThreads
from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.harness.codex import CodexSessions
from agent_memory.harness.copilot import CopilotSessions
from agent_memory.harness.cursor_store import CursorSessions
from agent_memory.harness.gemini import GeminiSessions
from agent_memory.harness.goose import GooseSessions
from agent_memory.harness.opencode import OpencodeSessions
from agent_memory.harness.pi import PiSessions
from agent_memory.harness.transcripts import Surroundings, TranscriptRoots
from agent_memory.note.note import Harness
from agent_memory.ports import HistorySource
from agent_memory.results import sealed
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import InboxEntry, SessionFile, SessionMethod, retrieval_of
from agent_memory.session.tool_calls import entry_uses
from agent_memory.session.turns import cut_windows, redact_history
from agent_memory.store.kept_histories_files import parse_history_lines, render_history_lines
from fuzz.source_words import words_in
from fuzz.target import Target

NOON_MS = 1_770_984_000_000
WINDOW_CHARS = 2_000

_WORDS = (
    "user", "assistant", "tool_use", "tool_result", "text", "thinking", "message", "content", "role", "type", "id", "parentId", "uuid", "parentUuid",
    "timestamp", "<system-reminder>", "</system-reminder>", "<!-- agent-memory:start -->", "<!-- agent-memory:end -->", "[agent-memory", "# aider chat started at ",
    "#### ", "> ", "Remember: always use pnpm.", "No, actually use port 9090.", "We decided to keep SQLite because", "TODO: ", "id__a1b2c3", "\u2028", "\u0085",
    "sk-ant-api03-", "toolCallId", "output", "input", "name", "arguments", "payload", "response_item", "event_msg", "compacted", "$rewindTo", "$set", "messages",
)  # fmt: skip

Fetch = Callable[[SessionMark | None], Result[History, Error]]
Opens = Callable[[Path, bytes], tuple[HistorySource, InboxEntry]]

_DIRECTORY = tempfile.TemporaryDirectory(prefix="fuzz-")
atexit.register(_DIRECTORY.cleanup)


def _file(harness: Harness, method: SessionMethod, source: Callable[[TranscriptRoots], HistorySource], session_id: str, ending: str) -> Opens:  # fmt: skip
    def opened(directory: Path, data: bytes) -> tuple[HistorySource, InboxEntry]:
        path = directory / f"{session_id}{ending}"
        path.write_bytes(data)
        return source(TranscriptRoots((str(directory),))), InboxEntry(
            0, harness, SessionFile(method, session_id, str(path))
        )

    return opened


def _aider(directory: Path, data: bytes) -> tuple[HistorySource, InboxEntry]:
    path = directory / CHAT_FILE
    path.write_bytes(data)
    return AiderChats(Surroundings({}, str(directory), directory)), InboxEntry(
        0, Harness.AIDER, SessionFile("aider-session", "all", str(path))
    )


def _amp(_: Path, data: bytes) -> tuple[HistorySource, InboxEntry]:
    def run(argv: Sequence[str]) -> Finished:
        return Finished(0, data, b"", timed_out=False, stdout_capped=False, stdin_taken=True)

    retrieval = retrieval_of(Harness.AMP, "T-0198c1aa-2f3e-7000-8a11-3c5d7e9f0b21")
    assert retrieval is not None
    return AmpThreads(run), InboxEntry(0, Harness.AMP, retrieval)


def _opencode(directory: Path, data: bytes) -> tuple[HistorySource, InboxEntry]:
    path = directory / "export.json"
    path.write_bytes(data)
    retrieval = retrieval_of(Harness.OPENCODE, "ses_039291878ffeimNGlY5GGKUQmY", str(path))
    assert retrieval is not None
    return OpencodeSessions(TranscriptRoots((str(directory),))), InboxEntry(0, Harness.OPENCODE, retrieval)


def _cursor_store(directory: Path, data: bytes) -> tuple[HistorySource, InboxEntry]:
    """The first object is the conversation, the others are its bubbles."""
    session_id = "6e22aebd-b34d-4fb0-aa0b-2fff5bc2163f"
    first, *others = data.split(b"\n")
    path = directory / "state.vscdb"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    with database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        put = "INSERT INTO cursorDiskKV VALUES (?, ?)"
        database.execute(put, (f"composerData:{session_id}", first))
        for number, line in enumerate(others):
            found = objects_in(line).found
            bubble = found[0].get("bubbleId", number) if found else number
            database.execute(put, (f"bubbleId:{session_id}:{bubble}".encode("utf-8", "replace").decode(), line))
    database.close()
    return CursorSessions(TranscriptRoots((str(directory),))), InboxEntry(
        0, Harness.CURSOR, SessionFile("cursor-session", session_id)
    )


def _goose(directory: Path, data: bytes) -> tuple[HistorySource, InboxEntry]:
    """Each line is a message."""
    path = directory / "sessions.db"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    with database:
        database.execute("CREATE TABLE sessions (id, working_dir)")
        database.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content_json, created_timestamp)"
        )
        database.execute("INSERT INTO sessions VALUES ('20260708_1', '/srv')")
        for line in data.split(b"\n"):
            told = next(iter(objects_in(line).found), {})
            said = (f"{told.get('role')}", json.dumps(told.get("content")) if told else line)
            put = "INSERT INTO messages VALUES (NULL, '20260708_1', ?, ?, 1)"
            database.execute(put, (said[0].encode("utf-8", "replace").decode(), said[1]))
    database.close()
    session = SessionFile("goose-session", "20260708_1")
    return GooseSessions(TranscriptRoots((str(directory),))), InboxEntry(0, Harness.GOOSE, session)


def _check(opens: Opens, name: str, data: bytes) -> None:
    directory = Path(_DIRECTORY.name) / name
    directory.mkdir(exist_ok=True)
    source, entry = opens(directory, data)
    history = _history_of(source.fetch(entry, None))
    if history is None:
        return
    check_history(history)
    if history.turns:
        turn = history.turns[len(data) % len(history.turns)]
        mark = SessionMark(
            history.harness, history.session_id, turn.record_id, turn.at_ms, turn.number, False, "builtin"
        )
        later = _history_of(source.fetch(entry, mark))
        if later is not None:
            _check_order(later)


def _history_of(fetched: Result[History, Error]) -> History | None:
    match sealed(fetched):
        case Success(history):
            return history
        case Failure(HistoryUnavailable() | HistoryUnreadable() | TranscriptRefused()):
            return None
        case Failure(error):
            raise AssertionError(error)


def _check_order(history: History) -> None:
    numbers = [turn.number for turn in history.turns]
    assert numbers == sorted(set(numbers)), f"turns are not in order: {numbers}"


def check_history(history: History) -> None:
    """What holds for every history: it goes through all that a consolidation does with it before an agent is called."""
    _check_order(history)
    entry_uses(history.turns)
    redacted = redact_history(history)
    assert redact_history(redacted) == redacted, "redaction is not done after one pass"
    part = evolve(redacted, skipped={}, transcript="", automated=False, own_call=False)
    lines = list(render_history_lines(part))
    assert not any("\n" in line.removesuffix("\n") for line in lines)
    "".join(lines).encode()
    kept = parse_history_lines(lines, "kept")
    assert kept == part, "what is kept of a history is not the history"
    windows = cut_windows(redacted, WINDOW_CHARS)
    assert [turn.number for window in windows for turn in window.turns] == sorted(
        turn.number for window in windows for turn in window.turns
    )
    for at, window in enumerate(windows):
        extracted(window, now_ms=NOON_MS, final_window=at == len(windows) - 1)


def _target(name: str, opens: Opens) -> Target:
    modules = f"harness/{name.partition('-')[0]}*.py"
    return Target(name, lambda data: _check(opens, name, data), (*_WORDS, *words_in(modules)))


TRANSCRIPTS: tuple[Target, ...] = (
    _target(
        "claude-code",
        _file(
            Harness.CLAUDE_CODE,
            "claude-code-session",
            ClaudeCodeSessions,
            "5f0c1a52-7f7b-4c55-9d3c-0d5e6a1b2c3d",
            ".jsonl",
        ),
    ),
    _target(
        "codex",
        _file(Harness.CODEX, "codex-session", CodexSessions, "019c5a00-1111-7222-8333-444455556666", ".jsonl"),
    ),
    _target(
        "copilot",
        _file(Harness.COPILOT, "copilot-session", CopilotSessions, "0198c1aa-2f3e-4000-8a11-3c5d7e9f0b06", ".jsonl"),
    ),
    _target(
        "cursor",
        _file(Harness.CURSOR, "cursor-session", CursorSessions, "6e22aebd-b34d-4fb0-aa0b-2fff5bc2163f", ".jsonl"),
    ),
    _target(
        "cursor-text",
        _file(Harness.CURSOR, "cursor-session", CursorSessions, "6e22aebd-b34d-4fb0-aa0b-2fff5bc2163f", ".txt"),
    ),
    _target("cursor-store", _cursor_store),
    _target(
        "gemini",
        _file(Harness.GEMINI, "gemini-session", GeminiSessions, "7c1e52d0-9f6b-4f0e-8a53-2f7d1b0c9e11", ".jsonl"),
    ),
    _target(
        "gemini-json",
        _file(Harness.GEMINI, "gemini-session", GeminiSessions, "7c1e52d0-9f6b-4f0e-8a53-2f7d1b0c9e11", ".json"),
    ),
    _target("goose", _goose),
    _target("pi", _file(Harness.PI, "pi-session", PiSessions, "019f8532-2173-78ef-aefd-882d27cd95ac", ".jsonl")),
    _target("aider", _aider),
    _target("amp", _amp),
    _target("opencode", _opencode),
)
