"""How past sessions are found where a harness keeps all of them in one database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.harness import session_finders, watched_finders
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import retrieval_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, StoreIo, TranscriptRefused
from agent_memory.ports import SessionFinder
from cursor_conversations import Composer, sample_transcript
from databases import everything_in, owner_of
from goose_sessions import sample as goose_sample
from harness_surroundings import surroundings
from opencode_sessions import Talk as OpencodeTalk

ONE, TWO = "11111111-2222-4333-8444-555555555555", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
CHANGED_MS = 1_770_000_000_000

Rows = Mapping[str, int]


def finder(home: Path, harness: Harness, *roots: str, **environ: str) -> SessionFinder:
    return session_finders(surroundings(home, *roots, **environ))[harness]


def found_by(finder: SessionFinder, since_ms: int | None = None) -> dict[str, FoundSession]:
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


# -- a database of each, with the sessions that are wanted -------------------------------------------------------------


def goose_database(directory: Path, sessions: Rows) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = goose_sample().write_rows(directory)
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
    path = OpencodeTalk().write_rows(directory)
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
    talk = Composer(session_id, **about)
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


# -- the contract ------------------------------------------------------------------------------------------------------


def test_a_harness_that_was_never_used_has_no_sessions(tmp_path: Path, harness: Harness) -> None:
    assert list(finder(tmp_path, harness).find(None)) == []
    database(tmp_path, harness, {})
    assert list(finder(tmp_path, harness).find(None)) == []


def test_each_session_is_found_with_the_way_to_its_history(tmp_path: Path, harness: Harness) -> None:
    path = database(tmp_path, harness, {ONE: CHANGED_MS, TWO: CHANGED_MS + 1})
    found = found_by(finder(tmp_path, harness))
    assert {id: each.changed_at_ms for id, each in found.items()} == {ONE: CHANGED_MS, TWO: CHANGED_MS + 1}
    for id, each in found.items():
        assert each.retrieval == retrieval_of(harness, id, str(path))
        assert each.ended_at_ms is None


def test_only_what_changed_since_then_is_found(tmp_path: Path, harness: Harness) -> None:
    database(tmp_path, harness, {ONE: CHANGED_MS, TWO: CHANGED_MS + 1})
    looking = finder(tmp_path, harness)
    assert sorted(found_by(looking, CHANGED_MS)) == [ONE, TWO]
    assert sorted(found_by(looking, CHANGED_MS + 1)) == [TWO]
    assert found_by(looking, CHANGED_MS + 2) == {}


def test_a_session_without_an_instant_changed_when_its_database_did_at_latest(tmp_path: Path, harness: Harness) -> None:
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    spoil = {
        Harness.GOOSE: "UPDATE sessions SET updated_at = 'soon'",
        Harness.OPENCODE: "UPDATE session SET time_updated = 'soon'",
        Harness.CURSOR: f"UPDATE cursorDiskKV SET value = '{{' WHERE key = 'composerData:{ONE}'",
    }
    change(path, spoil[harness])
    assert found_by(finder(tmp_path, harness))[ONE].changed_at_ms == path.stat().st_mtime_ns // 1_000_000


def test_nothing_of_the_owners_changes_while_it_works(tmp_path: Path, harness: Harness) -> None:
    """P5, P27"""
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    with owner_of(path) as owner:
        owner.does("PRAGMA wal_autocheckpoint = 0")
        owner.does("CREATE TABLE of_the_owner (x)")
        before = everything_in(path.parent)
        assert any(name.endswith("-wal") for name in before)
        assert sorted(found_by(finder(tmp_path, harness))) == [ONE]
        assert everything_in(path.parent) == before
        owner.does("INSERT INTO of_the_owner VALUES (1)")


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
def test_a_database_that_cannot_be_asked_is_an_error_and_never_nothing(
    tmp_path: Path, harness: Harness, spoil: Callable[[Path], object], expected: type[Error]
) -> None:
    """P6, P27"""
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    spoil(path)
    (error,) = errors_of(finder(tmp_path, harness))
    assert isinstance(error, expected)


def test_what_the_operating_system_refuses_is_an_error_and_never_nothing(
    tmp_path: Path, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P6"""
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    for name in ("lstat", "listdir"):
        real = getattr(os, name)

        def refused(asked: str, real: Callable[[str], object] = real) -> object:
            if str(asked) in (str(path), str(path.parent)):
                raise PermissionError(13, "Permission denied", asked)
            return real(asked)

        monkeypatch.setattr(os, name, refused)
    errors = errors_of(finder(tmp_path, harness))
    assert {error.errno_name for error in errors if isinstance(error, StoreIo)} == {"EACCES"}


def test_ids_that_are_none_are_told_and_hide_no_other(tmp_path: Path, harness: Harness) -> None:
    """P6"""
    database(tmp_path, harness, {"../../etc/passwd": CHANGED_MS, ONE: CHANGED_MS})
    looking = finder(tmp_path, harness)
    (error,) = errors_of(looking)
    assert isinstance(error, HistoryUnreadable)
    assert [each.unwrap().session_id for each in looking.find(None) if isinstance(each, Success)] == [ONE]


def test_databases_are_not_watched(tmp_path: Path, harness: Harness) -> None:
    path = database(tmp_path, harness, {ONE: CHANGED_MS})
    watched = watched_finders(surroundings(tmp_path))
    assert [*watched[harness].find(None)] == [] if harness is Harness.CURSOR else harness not in watched
    assert path.exists()


# -- goose -------------------------------------------------------------------------------------------------------------


def test_goose_sessions_that_no_person_had_are_not_found(tmp_path: Path) -> None:
    ids = ("a", "b", "c", "d", "e", ONE)
    path = database(tmp_path, Harness.GOOSE, dict.fromkeys(ids, CHANGED_MS))
    for id, kind in zip("abc", ("scheduled", "sub_agent", "hidden"), strict=True):
        change(path, "UPDATE sessions SET session_type = ? WHERE id = ?", kind, id)
    change(path, "UPDATE sessions SET schedule_id = 'daily' WHERE id = 'd'")
    change(path, "DELETE FROM messages WHERE session_id = 'e'")
    assert sorted(found_by(finder(tmp_path, Harness.GOOSE))) == [ONE]


def test_goose_databases_of_earlier_versions_are_asked(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.GOOSE, {ONE: CHANGED_MS})
    for column in ("session_type", "schedule_id", "created_at"):
        change(path, f"ALTER TABLE sessions DROP COLUMN {column}")
    change(path, "DROP INDEX idx_messages_session")
    assert sorted(found_by(finder(tmp_path, Harness.GOOSE))) == [ONE]


# -- opencode ----------------------------------------------------------------------------------------------------------


def test_opencode_sessions_of_sub_agents_and_without_a_word_are_not_found(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.OPENCODE, {ONE: CHANGED_MS, TWO: CHANGED_MS, "silent": CHANGED_MS})
    change(path, "UPDATE session SET parent_id = ? WHERE id = ?", ONE, TWO)
    change(path, "DELETE FROM message WHERE session_id = 'silent'")
    assert sorted(found_by(finder(tmp_path, Harness.OPENCODE))) == [ONE]


def test_opencode_databases_of_channels_and_the_named_one_are_asked(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.OPENCODE, {ONE: CHANGED_MS})
    path.rename(path.with_name("opencode-beta.db"))
    named = opencode_database(tmp_path / "elsewhere", {TWO: CHANGED_MS}).rename(tmp_path / "elsewhere" / "mine.db")
    assert sorted(found_by(finder(tmp_path, Harness.OPENCODE, OPENCODE_DB=str(named)))) == [ONE, TWO]
    assert sorted(found_by(finder(tmp_path, Harness.OPENCODE))) == [ONE]


# -- Cursor ------------------------------------------------------------------------------------------------------------


def test_a_conversation_with_a_transcript_is_found_once(tmp_path: Path) -> None:
    talk = sample_transcript()
    path = talk.write(tmp_path / ".cursor" / "projects")
    os.utime(path, ns=(1, (CHANGED_MS - 7) * 1_000_000))
    database(tmp_path, Harness.CURSOR, {talk.session_id: CHANGED_MS, ONE: CHANGED_MS})
    found = found_by(finder(tmp_path, Harness.CURSOR))
    assert sorted(found) == sorted([talk.session_id, ONE])
    assert (found[talk.session_id].path, found[talk.session_id].changed_at_ms) == (str(path), CHANGED_MS)
    assert sorted(found_by(finder(tmp_path, Harness.CURSOR), CHANGED_MS)) == sorted(found)


def test_drafts_sub_agents_and_empty_conversations_are_not_found(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.CURSOR, {ONE: CHANGED_MS, "empty-state-draft": CHANGED_MS})
    put_composer(path, sample_with("a-draft", isDraft=True))
    put_composer(path, Composer("nothing-said"))
    put_composer(path, sample_with("marked", subagentInfo={"parentComposerId": ONE}))
    of_sub_agent = sample_with("listed")
    of_sub_agent.is_sub_agent = True
    put_composer(path, of_sub_agent)
    change(path, "INSERT INTO cursorDiskKV VALUES ('composerData:deleted', NULL)")
    change(path, "INSERT INTO cursorDiskKV VALUES ('composerDatas:other', '{}')")
    assert sorted(found_by(finder(tmp_path, Harness.CURSOR))) == [ONE]


def test_the_later_of_the_instants_of_the_record_and_of_the_list_counts(tmp_path: Path) -> None:
    path = database(tmp_path, Harness.CURSOR, {ONE: CHANGED_MS})
    change(path, "ALTER TABLE composerHeaders ADD COLUMN lastUpdatedAt INTEGER")
    change(path, "UPDATE composerHeaders SET lastUpdatedAt = ?", CHANGED_MS + 5)
    assert found_by(finder(tmp_path, Harness.CURSOR))[ONE].changed_at_ms == CHANGED_MS + 5


# -- what is found can be read -----------------------------------------------------------------------------------------
