"""How past sessions are found, with every harness's own layout of files and databases."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.agent.child_process import Finished
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, StoreIo, TranscriptRefused
from agent_memory.harness import session_finders
from agent_memory.harness.amp import AmpThreads
from agent_memory.harness.transcripts import SessionFiles
from agent_memory.note.note import Harness
from agent_memory.ports import SessionFinder
from agent_memory.session.found_session import FoundSession
from agent_memory.session.queue import AmpThread
from agent_memory.text.instants import iso_of
from cursor_conversations import Composer, sample_transcript
from faults import failing_on
from goose_sessions import sample as goose_sample
from harness_surroundings import ScriptedCommand, finished, surroundings
from opencode_sessions import OpencodeTalk

ONE = "11111111-2222-4333-8444-555555555555"
TWO = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
CHANGED_MS = 1_770_000_000_000

LAYOUTS: Mapping[Harness, tuple[str, str]] = {
    Harness.CLAUDE_CODE: (".claude/projects/-srv-x/{id}.jsonl", "{}"),
    Harness.CODEX: (
        ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl",
        '{"type":"session_meta","payload":{"id":"x","source":"cli","thread_source":"user"}}',
    ),
    Harness.CURSOR: (".cursor/projects/srv-x/agent-transcripts/{id}/{id}.jsonl", "{}"),
    Harness.GEMINI: (".gemini/tmp/x/chats/session-2026-01-02T03-04-{id:.8}.jsonl", '{"sessionId":"ID"}'),
    Harness.COPILOT: (".copilot/session-state/{id}/events.jsonl", '{"type":"session.start"}'),
    Harness.PI: (".pi/agent/sessions/--srv-x--/2026-01-02T03-04-05-678Z_{id}.jsonl", "{}"),
}
"""A file of one session below the home, and its content."""

NO_SESSIONS: Mapping[Harness, Mapping[str, str]] = {
    Harness.CLAUDE_CODE: {
        f".claude/projects/-srv-x/agent-{ONE}.jsonl": "a sub-agent of older versions",
        f".claude/projects/-srv-x/{TWO}/subagents/agent-1.jsonl": "a sub-agent",
        f".claude/projects/-srv-x/{TWO}/tool-results/{ONE}.jsonl": "a tool's output",
        ".claude/projects/-srv-x/memory/MEMORY.md": "its own notes",
        ".claude/projects/-srv-x/notes.jsonl": "no session's id",
    },
    Harness.CODEX: {
        f".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{TWO}.jsonl": json.dumps(
            {"type": "session_meta", "payload": {"source": {"subagent": {"thread_spawn": {}}}}}
        ),
        f".codex/sessions/2026/01/03/rollout-2026-01-02T03-04-05-{TWO}.jsonl": json.dumps(
            {"type": "session_meta", "payload": {"source": "cli", "thread_source": "subagent"}}
        ),
        ".codex/sessions/history.jsonl": "{}",
    },
    Harness.CURSOR: {
        f".cursor/projects/srv-x/agent-transcripts/{TWO}/subagents/{ONE}.jsonl": "a sub-agent",
        f".cursor/projects/srv-x/agent-tools/{TWO}.txt": "a tool's output",
        ".cursor/projects/srv-x/.workspace-trusted": "{}",
    },
    Harness.GEMINI: {
        ".gemini/tmp/x/logs.json": "[]",
        f".gemini/tmp/x/chats/parent/session-{TWO}.jsonl": json.dumps({"sessionId": TWO, "kind": "subagent"}),
        ".gemini/tmp/x/chats/session-2026-01-02T03-04-bbbb.json": "no id in it",
    },
    Harness.COPILOT: {
        f".copilot/session-state/{TWO}/workspace.yaml": "id: x",
        ".copilot/session-state/x/events.jsonl": "",
    },
    Harness.PI: {".pi/agent/sessions/--srv-x--/notes.jsonl": "{}", f".pi/agent/sessions/{TWO}.jsonl": "no time in it"},
}


def put(home: Path, relative: str, text: str = "{}", changed_ms: int = CHANGED_MS) -> Path:
    path = home / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(changed_ms * 1_000_000, changed_ms * 1_000_000))
    return path


def finder(home: Path, harness: Harness, *roots: str, **environ: str) -> SessionFinder:
    return session_finders(surroundings(home, *roots, **environ))[harness]


def found_by(finder: SessionFinder, since_ms: int | None = None) -> list[FoundSession]:
    return [each.unwrap() for each in finder.find(since_ms)]


def ids(finder: SessionFinder, since_ms: int | None = None) -> list[str]:
    return sorted(each.session_id for each in found_by(finder, since_ms))


@pytest.mark.parametrize("harness", sorted(LAYOUTS))
def test_only_a_persons_sessions_that_changed_since_then_are_found(tmp_path: Path, harness: Harness) -> None:
    """P27: links and special files are passed over."""
    path, text = LAYOUTS[harness]
    one, two = (
        put(tmp_path, path.format(id=id), text.replace("ID", id), CHANGED_MS + at) for at, id in enumerate((ONE, TWO))
    )
    looking = finder(tmp_path, harness)
    assert [ids(looking, CHANGED_MS + at) for at in range(3)] == [[ONE, TWO], [TWO], []]
    two.unlink()
    two.symlink_to(one)
    assert ids(looking) == [ONE]
    two.unlink()
    os.mkfifo(two)
    assert ids(looking) == [ONE]
    two.unlink()
    for other, said in NO_SESSIONS[harness].items():
        put(tmp_path, other, said)
    assert ids(looking) == [ONE]


@pytest.mark.parametrize(
    ("harness", "path", "environ"),
    [
        *((harness, path, {}) for harness, (path, _) in LAYOUTS.items()),
        (Harness.CODEX, ".codex/archived_sessions/rollout-2026-01-02T03-04-05-{id}.jsonl", {}),
        (Harness.CURSOR, ".cursor/projects/srv-x/agent-transcripts/{id}.jsonl", {}),
        (Harness.GEMINI, ".gemini/tmp/x/chats/session-2026-01-02T03-04-{id:.8}.json", {}),
        (Harness.GEMINI, ".gemini/tmp/x/chats/parent/{id}.jsonl", {}),
        (Harness.COPILOT, ".copilot/session-state/{id}.jsonl", {}),
        (Harness.COPILOT, "own/session-state/{id}/events.jsonl", {"COPILOT_HOME": "~/own"}),
        (Harness.PI, "pi/sessions/--srv--/2026_{id}.jsonl", {"PI_CODING_AGENT_DIR": "~/pi"}),
        (Harness.PI, "talks/2026_{id}.jsonl", {"PI_CODING_AGENT_SESSION_DIR": "~/talks"}),
    ],
)
def test_a_session_is_found_by_its_id_wherever_its_harness_keeps_it_p27(
    tmp_path: Path, harness: Harness, path: str, environ: dict[str, str]
) -> None:
    """The name of a chat of Gemini's holds only the first eight characters."""
    looking = finder(tmp_path, harness, **environ)
    assert isinstance(looking, SessionFiles)
    for id in (f"{ONE[:8]}-another", ONE):
        assert looking.path_of(ONE) is None
        there = put(tmp_path, path.format(id=id), LAYOUTS[harness][1].replace("ID", id))
    assert looking.path_of(ONE) == str(there)


def test_a_directory_that_cannot_be_listed_is_an_error_p6(tmp_path: Path) -> None:
    put(tmp_path, f".claude/projects/open/{ONE}.jsonl")
    put(tmp_path, f".claude/projects/closed/{TWO}.jsonl")
    with failing_on("/closed", "listdir"):
        results = list(finder(tmp_path, Harness.CLAUDE_CODE).find(None))
    assert sorted(isinstance(each, Success) for each in results) == [False, True]
    (error,) = [each.failure() for each in results if isinstance(each, Failure)]
    assert isinstance(error, StoreIo)


def test_a_session_in_two_places_is_found_in_both(tmp_path: Path) -> None:
    """Resumed in another directory, each copy goes on by itself."""
    older = put(tmp_path, f".claude/projects/old-place/{ONE}.jsonl", changed_ms=CHANGED_MS)
    newest = put(tmp_path, f".claude/projects/new-place/{ONE}.jsonl", "{}\n{}", changed_ms=CHANGED_MS + 5)
    found = {
        each.path: (each.changed_at_ms, each.size_bytes) for each in found_by(finder(tmp_path, Harness.CLAUDE_CODE))
    }
    assert found == {str(older): (CHANGED_MS, older.stat().st_size), str(newest): (CHANGED_MS + 5, 5)}


def test_other_roots_of_the_person_are_looked_into(tmp_path: Path) -> None:
    put(tmp_path, f"elsewhere/projects/-srv-x/{ONE}.jsonl")
    put(tmp_path, f"archive/-srv-x/{TWO}.jsonl")
    assert ids(finder(tmp_path, Harness.CLAUDE_CODE, CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere"))) == [ONE]
    assert ids(finder(tmp_path, Harness.CLAUDE_CODE, str(tmp_path / "archive"))) == [TWO]


# -- Amp --------------------------------------------------------------------------------------------------------------

THREAD, OTHER = "T-11111111-2222", "T-aaaaaaaa-bbbb"


def amp(outcome: Finished | StoreIo) -> AmpThreads:
    return AmpThreads(ScriptedCommand(outcome))


def printed(text: str, status: int = 0, stderr: str = "") -> Finished:
    return finished(text.encode(), status, stderr.encode())


def test_only_threads_that_changed_since_then_are_found() -> None:
    listed = json.dumps([{"id": THREAD, "updatedAt": CHANGED_MS}, {"id": OTHER, "updatedAt": CHANGED_MS + 1}])
    found = [ids(amp(printed(listed)), CHANGED_MS + at) for at in range(3)]
    assert found == [[THREAD, OTHER], [OTHER], []]


@pytest.mark.parametrize(
    "listed",
    [
        [{"id": THREAD, "created": CHANGED_MS - 5, "updated": CHANGED_MS}],
        [{"id": THREAD, "updatedAt": "2026-02-02T02:40:00.000Z"}, {"id": "../x"}, 7, {"id": None}],
        {"threads": [{"threadId": THREAD, "updatedAt": CHANGED_MS / 1000}]},
    ],
)
def test_threads_are_found_however_they_are_listed(listed: object) -> None:
    (found,) = found_by(amp(printed(json.dumps(listed))))
    assert found.retrieval == AmpThread(THREAD)
    assert found.changed_at_ms == found.ended_at_ms == CHANGED_MS


@pytest.mark.parametrize(
    "answer",
    [
        printed("", 1, "Not logged in"),
        printed("Title  Visibility\n----"),
        printed("[" * 100_000),
        printed('{"error": "x"}'),
        StoreIo("amp", "run", "EMFILE", "Too many open files"),
    ],
)
def test_an_amp_that_does_not_tell_is_an_error_and_never_nothing_p6(answer: Finished | StoreIo) -> None:
    (error,) = amp(answer).find(None)
    assert isinstance(error.failure(), HistoryUnavailable)


# -- harnesses that keep all sessions in one database ------------------------------------------------------------------


Rows = Mapping[str, int]


def found_by_database(finder: SessionFinder, since_ms: int | None = None) -> dict[str, FoundSession]:
    sessions = [each.unwrap() for each in finder.find(since_ms)]
    assert len({each.session_id for each in sessions}) == len(sessions)
    return {each.session_id: each for each in sessions}


def errors_of(finder: SessionFinder) -> list[Error]:
    return [each.failure() for each in finder.find(None) if isinstance(each, Failure)]


def change(path: Path, sql: str, *parameters: object) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(sql, parameters)
    finally:
        connection.close()


def goose_database(directory: Path, sessions: Rows) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = goose_sample().write(directory)
    change(path, "DELETE FROM sessions")
    change(path, "DELETE FROM messages")
    for session_id, changed_ms in sessions.items():
        stamp = iso_of(changed_ms).replace("T", " ").removesuffix("Z")
        change(path, "INSERT INTO sessions (id, working_dir, updated_at) VALUES (?, '/srv', ?)", session_id, stamp)
        say = "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, 'user', '[]', 1)"
        change(path, say, session_id)
    return path


def opencode_database(directory: Path, sessions: Rows) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = OpencodeTalk().write(directory)
    change(path, "DELETE FROM session")
    for session_id, changed_ms in sessions.items():
        row = "INSERT INTO session VALUES (?, 'p', NULL, 's', '/srv', 't', '1.18', NULL, 1, ?)"
        change(path, row, session_id, changed_ms)
        change(path, "INSERT INTO message VALUES (?, ?, 1, 1, '{}')", f"msg_{session_id}", session_id)
    return path


def cursor_store(directory: Path, sessions: Rows) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = Composer("draft", isDraft=True).write(directory)
    for session_id, changed_ms in sessions.items():
        put_composer(path, sample_with(session_id, lastUpdatedAt=changed_ms))
    return path


def sample_with(session_id: str, **about: object) -> Composer:
    talk = Composer(session_id, **about)  # type: ignore[arg-type]
    talk.user("Which port?")
    return talk


def put_composer(path: Path, talk: Composer) -> None:
    for statement in talk.rows():
        sql, values = statement
        change(path, sql, *values)


MAKERS: Mapping[Harness, tuple[str, str, Callable[[Path, Rows], Path]]] = {
    Harness.GOOSE: (".local/share/goose/sessions", "sessions.db", goose_database),
    Harness.OPENCODE: (".local/share/opencode", "opencode.db", opencode_database),
    Harness.CURSOR: (".config/Cursor/User/globalStorage", "state.vscdb", cursor_store),
}


@pytest.fixture(params=sorted(MAKERS))
def harness(request: pytest.FixtureRequest) -> Harness:
    chosen: Harness = request.param
    return chosen


def database(home: Path, harness: Harness, sessions: Rows) -> Path:
    directory, _, make = MAKERS[harness]
    return make(home / directory, sessions)


def test_only_what_changed_since_then_is_found(tmp_path: Path, harness: Harness) -> None:
    database(tmp_path, harness, {ONE: CHANGED_MS, TWO: CHANGED_MS + 1})
    looking = finder(tmp_path, harness)
    assert sorted(found_by_database(looking, CHANGED_MS)) == [ONE, TWO]
    assert sorted(found_by_database(looking, CHANGED_MS + 1)) == [TWO]
    assert found_by_database(looking, CHANGED_MS + 2) == {}


def test_a_session_without_an_instant_changed_when_its_database_did_at_latest(tmp_path: Path, harness: Harness) -> None:
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    spoil = {
        Harness.GOOSE: "UPDATE sessions SET updated_at = 'soon'",
        Harness.OPENCODE: "UPDATE session SET time_updated = 'soon'",
        Harness.CURSOR: f"UPDATE cursorDiskKV SET value = '{{' WHERE key = 'composerData:{ONE}'",
    }
    change(path, spoil[harness])
    assert found_by_database(finder(tmp_path, harness))[ONE].changed_at_ms == path.stat().st_mtime_ns // 1_000_000


def _exchange_for_another(path: Path) -> None:
    path.unlink()
    change(path, "CREATE TABLE x (y)")


def _exchange_for_a_link(path: Path) -> None:
    real = path.rename(path.with_suffix(".real"))
    path.symlink_to(real)


def _exchange_for_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda path: path.write_bytes(b"no database " * 100), HistoryUnreadable),
        (lambda path: path.write_bytes(b""), HistoryUnavailable),
        (_exchange_for_another, HistoryUnreadable),
        (_exchange_for_a_link, TranscriptRefused),
        (_exchange_for_a_fifo, TranscriptRefused),
    ],
    ids=["garbage", "empty", "strange", "link", "fifo"],
)
def test_a_database_that_cannot_be_asked_is_an_error_and_never_nothing_p6_p27(
    tmp_path: Path, harness: Harness, spoil: Callable[[Path], object], expected: type[Error]
) -> None:
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    spoil(path)
    (error,) = errors_of(finder(tmp_path, harness))
    assert isinstance(error, expected)


def test_a_refusal_is_an_error_p6(tmp_path: Path, harness: Harness) -> None:
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    with failing_on(str(path), "lstat"), failing_on(str(path.parent), "lstat", "listdir"):
        errors = errors_of(finder(tmp_path, harness))
    assert {error.errno_name for error in errors if isinstance(error, StoreIo)} == {"EIO"}


def test_ids_that_are_none_are_told_and_hide_no_other_p6(tmp_path: Path, harness: Harness) -> None:
    database(tmp_path, harness, {"../../etc/passwd": CHANGED_MS, ONE: CHANGED_MS})
    looking = finder(tmp_path, harness)
    (error,) = errors_of(looking)
    assert isinstance(error, HistoryUnreadable)
    assert [each.unwrap().session_id for each in looking.find(None) if isinstance(each, Success)] == [ONE]


def test_goose_sessions_that_no_person_had_are_not_found(tmp_path: Path) -> None:
    ids = ("a", "b", "c", "d", "e", ONE)
    path = database(tmp_path, Harness.GOOSE, dict.fromkeys(ids, CHANGED_MS))
    for id, kind in zip("abc", ("scheduled", "sub_agent", "hidden"), strict=True):
        change(path, "UPDATE sessions SET session_type = ? WHERE id = ?", kind, id)
    change(path, "UPDATE sessions SET schedule_id = 'daily' WHERE id = 'd'")
    change(path, "DELETE FROM messages WHERE session_id = 'e'")
    assert sorted(found_by_database(finder(tmp_path, Harness.GOOSE))) == [ONE]


def test_goose_databases_of_earlier_versions_are_asked(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.GOOSE, {ONE: CHANGED_MS})
    for column in ("session_type", "schedule_id", "created_at"):
        change(path, f"ALTER TABLE sessions DROP COLUMN {column}")
    change(path, "DROP INDEX idx_messages_session")
    assert sorted(found_by_database(finder(tmp_path, Harness.GOOSE))) == [ONE]


def test_opencode_sessions_of_sub_agents_and_without_a_word_are_not_found(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.OPENCODE, {ONE: CHANGED_MS, TWO: CHANGED_MS, "silent": CHANGED_MS})
    change(path, "UPDATE session SET parent_id = ? WHERE id = ?", ONE, TWO)
    change(path, "DELETE FROM message WHERE session_id = 'silent'")
    assert sorted(found_by_database(finder(tmp_path, Harness.OPENCODE))) == [ONE]


def test_opencode_databases_of_channels_and_the_named_one_are_asked(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.OPENCODE, {ONE: CHANGED_MS})
    path.rename(path.with_name("opencode-beta.db"))
    named = opencode_database(tmp_path / "elsewhere", {TWO: CHANGED_MS}).rename(tmp_path / "elsewhere" / "mine.db")
    assert sorted(found_by_database(finder(tmp_path, Harness.OPENCODE, OPENCODE_DB=str(named)))) == [ONE, TWO]
    assert sorted(found_by_database(finder(tmp_path, Harness.OPENCODE))) == [ONE]


def test_a_conversation_with_a_transcript_is_found_once(tmp_path: Path) -> None:
    talk = sample_transcript()
    path = talk.write(tmp_path / ".cursor" / "projects")
    os.utime(path, ns=(1, (CHANGED_MS - 7) * 1_000_000))
    database(tmp_path, Harness.CURSOR, {talk.session_id: CHANGED_MS, ONE: CHANGED_MS})
    found = found_by_database(finder(tmp_path, Harness.CURSOR))
    assert sorted(found) == sorted([talk.session_id, ONE])
    assert (found[talk.session_id].path, found[talk.session_id].changed_at_ms) == (str(path), CHANGED_MS)
    assert sorted(found_by_database(finder(tmp_path, Harness.CURSOR), CHANGED_MS)) == sorted(found)


def test_drafts_sub_agents_and_empty_conversations_are_not_found(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.CURSOR, {ONE: CHANGED_MS, "empty-state-draft": CHANGED_MS})
    put_composer(path, sample_with("a-draft", isDraft=True))
    put_composer(path, Composer("nothing-said"))
    put_composer(path, sample_with("marked", subagentInfo={"parentComposerId": ONE}))
    put_composer(path, sample_with("listed", is_sub_agent=True))
    change(path, "INSERT INTO cursorDiskKV VALUES ('composerData:deleted', NULL)")
    change(path, "INSERT INTO cursorDiskKV VALUES ('composerDatas:other', '{}')")
    assert sorted(found_by_database(finder(tmp_path, Harness.CURSOR))) == [ONE]
