"""Transcripts of every harness: read, cut, redacted, extracted from, kept; nothing raises, whatever somebody wrote."""

from __future__ import annotations

import atexit
import json
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.agent.child_process import Finished
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.extraction.extract import extracted
from agent_memory.files.lines import objects_in
from agent_memory.harness import Histories, Surroundings
from agent_memory.harness.aider import CHAT_FILE
from agent_memory.harness.amp import AmpThreads
from agent_memory.note.note import Harness
from agent_memory.results import as_result, sealed
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import InboxEntry, retrieval_of
from agent_memory.session.tool_calls import entry_uses
from agent_memory.session.windows import cut_windows, redact_history
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
Opens = Callable[[Path, bytes], Fetch]

_DIRECTORY = tempfile.TemporaryDirectory(prefix="fuzz-")
atexit.register(_DIRECTORY.cleanup)


def _fetch(directory: Path, harness: Harness, session_id: str, path: Path | None = None) -> Fetch:
    retrieval = retrieval_of(harness, session_id, str(path) if path else None)
    histories = Histories(Surroundings({}, str(directory), directory, (str(directory),)))
    return partial(histories.fetch, InboxEntry(0, harness, retrieval))


def _file(harness: Harness, session_id: str, name: str) -> Opens:
    def opened(directory: Path, data: bytes) -> Fetch:
        path = directory / name.format(session_id)
        path.write_bytes(data)
        return _fetch(directory, harness, session_id, path)

    return opened


def _amp(_: Path, data: bytes) -> Fetch:
    def run(argv: Sequence[str]) -> Finished:
        return Finished(0, data, b"", timed_out=False, stdout_capped=False, stdin_taken=True)

    return partial(as_result(AmpThreads(run).history), "T-0198c1aa-2f3e-7000-8a11-3c5d7e9f0b21", None, None)


def _cursor_store(directory: Path, data: bytes) -> Fetch:
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
    return _fetch(directory, Harness.CURSOR, session_id)


def _goose(directory: Path, data: bytes) -> Fetch:
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
    return _fetch(directory, Harness.GOOSE, "20260708_1")


def _check(opens: Opens, name: str, data: bytes) -> None:
    directory = Path(_DIRECTORY.name) / name
    directory.mkdir(exist_ok=True)
    fetch = opens(directory, data)
    history = _history_of(fetch(None))
    if history is None:
        return
    check_history(history)
    if history.turns:
        turn = history.turns[len(data) % len(history.turns)]
        mark = SessionMark(
            history.harness, history.session_id, turn.record_id, turn.at_ms, turn.number, False, "builtin"
        )
        later = _history_of(fetch(mark))
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


_CURSOR, _GEMINI = "6e22aebd-b34d-4fb0-aa0b-2fff5bc2163f", "7c1e52d0-9f6b-4f0e-8a53-2f7d1b0c9e11"
TRANSCRIPTS: tuple[Target, ...] = (
    _target("claude-code", _file(Harness.CLAUDE_CODE, "5f0c1a52-7f7b-4c55-9d3c-0d5e6a1b2c3d", "{}.jsonl")),
    _target("codex", _file(Harness.CODEX, "019c5a00-1111-7222-8333-444455556666", "{}.jsonl")),
    _target("copilot", _file(Harness.COPILOT, "0198c1aa-2f3e-4000-8a11-3c5d7e9f0b06", "{}.jsonl")),
    _target("cursor", _file(Harness.CURSOR, _CURSOR, "{}.jsonl")),
    _target("cursor-text", _file(Harness.CURSOR, _CURSOR, "{}.txt")),
    _target("cursor-store", _cursor_store),
    _target("gemini", _file(Harness.GEMINI, _GEMINI, "{}.jsonl")),
    _target("gemini-json", _file(Harness.GEMINI, _GEMINI, "{}.json")),
    _target("goose", _goose),
    _target("pi", _file(Harness.PI, "019f8532-2173-78ef-aefd-882d27cd95ac", "{}.jsonl")),
    _target("aider", _file(Harness.AIDER, "all", CHAT_FILE)),
    _target("amp", _amp),
    _target("opencode", _file(Harness.OPENCODE, "ses_039291878ffeimNGlY5GGKUQmY", "export.json")),
)
