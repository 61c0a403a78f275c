"""Cursor conversations from the editor's store, `state.vscdb`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from agent_memory.adapters.harness.cursor import CursorSessions
from agent_memory.adapters.harness.transcripts import TranscriptRoots
from agent_memory.domain.history import History, Role, SessionMark
from agent_memory.domain.queue import InboxEntry, SessionFile
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable
from claude_transcripts import mark_after, told
from cursor_conversations import (
    SCHEMA,
    SESSION,
    STARTED_MS,
    Composer,
    sample_composer,
    sample_transcript,
    tool,
)
from databases import make_database, owner_of

TOLD = ["user: Which port?", "agent: I look.", "tool: 9090", "user: Use 9191.", "agent: Done."]


def entry(path: Path | None = None, session_id: str = SESSION) -> InboxEntry:
    return InboxEntry(0, Harness.CURSOR, SessionFile("cursor-session", session_id, str(path) if path else None))


def fetched(root: Path, mark: SessionMark | None = None, path: Path | None = None) -> History:
    history: History = CursorSessions(TranscriptRoots((str(root),))).fetch(entry(path), mark).unwrap()
    return history


def refused(root: Path, session_id: str = SESSION) -> Error:
    error: Error = CursorSessions(TranscriptRoots((str(root),))).fetch(entry(None, session_id), None).failure()
    return error


def history_of(talk: Composer, root: Path, mark: SessionMark | None = None) -> History:
    talk.write(root)
    return fetched(root, mark)


def test_the_facts_of_a_conversation(tmp_path: Path) -> None:
    found = history_of(sample_composer(), tmp_path)
    assert told(found) == TOLD
    assert (found.title, found.cwd, found.branch) == ("Ports of the dev server", "/srv/harbour", "ports")
    assert (found.agent, found.started_at_ms, found.ended_at_ms) == ("gpt-5.5", STARTED_MS, STARTED_MS + 3000)
    assert not found.automated


def test_calls_and_their_answers(tmp_path: Path) -> None:
    talk = Composer()
    talk.user("Fix it.")
    talk.agent("", **tool("search_replace", {"diff": "…"}, file_path="/srv/a.py", old_string="1", new_string="2"))
    talk.agent("", **tool("read_file", {"contents": "print(1)"}, target_file="/srv/b.py"))
    talk.agent("", **tool("run_terminal_cmd", None, status="cancelled", command="rm x"))
    talk.agent("", **tool("web_search", "plain text", query="port"))
    found = history_of(talk, tmp_path)
    made = [call for turn in found.turns for call in turn.tool_calls]
    assert [(call.path, call.writes) for call in made[:2]] == [("/srv/a.py", True), ("/srv/b.py", False)]
    answers = [(turn.text, turn.failed) for turn in found.turns if turn.role is Role.TOOL]
    assert answers == [('{"diff": "…"}', False), ("print(1)", False), ("", True), ("plain text", False)]


def test_the_wal_of_an_editor_at_work_is_read(tmp_path: Path) -> None:
    talk = sample_composer(3)
    path = talk.write(tmp_path)
    more = Composer()
    more.bubbles = [*talk.bubbles]
    more.user("Use 9191.")
    headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in more.bubbles]
    about = json.dumps({**talk.about, "fullConversationHeadersOnly": headers})
    with owner_of(path) as editor:
        editor.does(f"INSERT INTO cursorDiskKV VALUES ('composerData:{SESSION}', '{about}')")
        bubble = json.dumps(more.bubbles[-1])
        editor.does(f"INSERT INTO cursorDiskKV VALUES ('bubbleId:{SESSION}:b2', '{bubble}')")
        assert told(fetched(tmp_path)) == TOLD[:4]


class TestTraps:
    def test_trap_2_a_bubble_with_words_and_a_call_is_one_turn(self, tmp_path: Path) -> None:
        found = history_of(sample_composer(3), tmp_path)
        assert found.turns[1].text == "I look."
        assert found.turns[1].tool_calls[0].brief == "ss"

    def test_trap_4_a_sub_agents_conversation(self, tmp_path: Path) -> None:
        talk = sample_composer()
        talk.is_sub_agent = True
        found = history_of(talk, tmp_path)
        assert found.automated
        assert Role.USER not in {turn.role for turn in found.turns}
        talk.is_sub_agent = False
        talk.about["subagentInfo"] = {"parentComposerId": "p"}
        assert history_of(talk, tmp_path).automated

    def test_trap_5_the_directory_comes_from_the_conversation(self, tmp_path: Path) -> None:
        talk = sample_composer()
        del talk.about["workspaceIdentifier"]
        assert history_of(talk, tmp_path).cwd == "/srv/harbour"

    def test_trap_6_a_bubble_still_being_written_is_left_for_the_next_time(self, tmp_path: Path) -> None:
        talk = sample_composer(4)
        talk.about["status"] = "generating"
        talk.agent("Do")
        first = history_of(talk, tmp_path)
        assert told(first) == TOLD[:4]
        assert first.skipped == {"unfinished-message": 1}
        talk.about["status"] = "completed"
        talk.bubbles[-1]["text"] = "Done."
        assert told(history_of(talk, tmp_path, mark_after(first))) == TOLD[4:]


def test_where_the_ids_of_headers_and_bubbles_differ_the_times_tell_the_order(tmp_path: Path) -> None:
    talk = sample_composer()
    talk.about["fullConversationHeadersOnly"] = [{"bubbleId": f"other{at}", "type": 1} for at in range(4)]
    talk.bubbles.reverse()
    assert told(history_of(talk, tmp_path)) == TOLD


@pytest.mark.parametrize("about", [{"isDraft": True}, {"fullConversationHeadersOnly": []}])
def test_drafts_are_no_conversations(tmp_path: Path, about: dict[str, object]) -> None:
    talk = sample_composer()
    talk.about |= about
    talk.write(tmp_path)
    assert isinstance(refused(tmp_path), HistoryUnavailable)


def test_lost_bubbles_are_counted_and_the_transcript_knows_more(tmp_path: Path) -> None:
    talk = sample_composer()
    path = talk.write(tmp_path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE cursorDiskKV SET value = NULL WHERE key LIKE 'bubbleId:%:b2'")
    connection.close()
    found = fetched(tmp_path)
    assert told(found) == [*TOLD[:3], TOLD[4]]
    assert found.skipped == {"missing-bubble": 1}
    sample_transcript().write(tmp_path)
    assert told(fetched(tmp_path)) == TOLD


def test_what_was_begun_from_the_transcript_goes_on_from_there(tmp_path: Path) -> None:
    transcript = sample_transcript()
    transcript.write(tmp_path)
    first = fetched(tmp_path)
    talk = sample_composer()
    talk.user("And the proxy?")
    talk.write(tmp_path)
    assert fetched(tmp_path, mark_after(first)).turns == ()
    transcript.user("And the proxy?")
    transcript.write(tmp_path)
    assert told(fetched(tmp_path, mark_after(first))) == ["user: And the proxy?"]


def test_a_ruined_store_leaves_the_transcript(tmp_path: Path) -> None:
    (tmp_path / "state.vscdb").write_bytes(b"no database" * 100)
    assert isinstance(refused(tmp_path), HistoryUnreadable)
    sample_transcript().write(tmp_path)
    assert told(fetched(tmp_path)) == TOLD


def test_a_newer_schema_says_so(tmp_path: Path) -> None:
    make_database(tmp_path / "state.vscdb", *(statement.replace("cursorDiskKV", "cursorKV2") for statement in SCHEMA))
    error = refused(tmp_path)
    assert isinstance(error, HistoryUnreadable)
    assert "changed" in error.reason


def test_ruined_records(tmp_path: Path) -> None:
    talk = sample_composer()
    path = talk.write(tmp_path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE cursorDiskKV SET value = '{\"type\": 2, ' WHERE key LIKE 'bubbleId:%:b1'")
    assert fetched(tmp_path).skipped == {"bad-line": 1}
    connection.execute("UPDATE cursorDiskKV SET value = '[' WHERE key LIKE 'composerData:%'")
    connection.close()
    assert isinstance(refused(tmp_path), HistoryUnreadable)
