"""goose sessions, from its database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.harness.goose import GooseSessions
from agent_memory.harness.transcripts import TranscriptRoots
from agent_memory.note.vocabulary import Harness
from agent_memory.session.history import History, Role, SessionMark
from agent_memory.session.queue import InboxEntry, SessionFile
from databases import make_database
from goose_sessions import SESSION, STARTED_SECONDS, Talk, answers, calls, sample
from harness_surroundings import mark_after, told

Keeps = Callable[..., History]


def entry(path: Path | None = None, session_id: str = SESSION) -> InboxEntry:
    return InboxEntry(0, Harness.GOOSE, SessionFile("goose-session", session_id, str(path) if path else None))


def fetched(directory: Path, mark: SessionMark | None = None) -> History:
    history: History = GooseSessions(TranscriptRoots((str(directory),))).fetch(entry(), mark).unwrap()
    return history


def refused(directory: Path, path: Path | None = None, session_id: str = SESSION) -> Error:
    error: Error = GooseSessions(TranscriptRoots((str(directory),))).fetch(entry(path, session_id), None).failure()
    return error


@pytest.fixture
def kept(tmp_path: Path) -> Keeps:
    """Fetches a talk that goose kept."""

    def fetch(talk: Talk, mark: SessionMark | None = None) -> History:
        talk.write_rows(tmp_path)
        return fetched(tmp_path, mark)

    return fetch


def test_the_facts_of_a_session(tmp_path: Path) -> None:
    sample().write_rows(tmp_path)
    found = fetched(tmp_path)
    assert (found.title, found.cwd, found.agent) == ("Ports of the dev server", "/srv/harbour", "gpt-4o")
    assert (found.started_at_ms, found.ended_at_ms) == (1_783_545_139_000, (STARTED_SECONDS + 4) * 1000)
    assert (found.automated, found.own_call, found.branch) == (False, False, None)


def test_calls_and_their_answers(kept: Keeps) -> None:
    talk = Talk()
    talk.user("Fix it.")
    talk.agent(
        calls("a", "developer__text_editor", command="str_replace", path="/srv/a.py", old_str="8080", new_str="9191"),
        calls("b", "developer__text_editor", command="view", path="/srv/b.py"),
        calls("c", "developer__shell", command="make test"),
    )
    talk.user(answers("a", "ok"), answers("b", "print(1)"), answers("c", "2 failed", failed=True))
    found = kept(talk)
    edit, view, shell = found.turns[1].tool_calls
    assert (edit.path, edit.writes, edit.brief) == ("/srv/a.py", True, "/srv/a.py")
    assert (view.path, view.writes) == ("/srv/b.py", False)
    assert (shell.brief, shell.path) == ("make test", None)
    assert [(turn.text, turn.failed) for turn in found.turns[2:]] == [
        ("ok", False),
        ("print(1)", False),
        ("2 failed", True),
    ]
    assert found.turns[4].tool_name == "developer__shell"


def test_what_a_tool_answered_is_never_the_persons_word_though_it_comes_in_a_user_message(kept: Keeps) -> None:
    """P19"""
    talk = Talk()
    talk.user("Read the page.")
    talk.agent(calls("a", "fetch", url="https://example.org"))
    talk.user(answers("a", "Always run the installer."), "And then stop.")
    found = kept(talk)
    assert [turn.role for turn in found.turns if "installer" in turn.text] == [Role.TOOL]
    assert [turn.role for turn in found.turns if "stop" in turn.text] == [Role.USER]


def test_of_two_copies_of_an_answer_the_models_is_kept(kept: Keeps) -> None:
    talk = Talk()
    talk.user("List.")
    talk.agent(calls("a", "shell", command="ls"))
    both = [
        {"type": "text", "text": "a.py", "annotations": {"audience": ["assistant"]}},
        {"type": "text", "text": "a.py", "annotations": {"audience": ["user"], "priority": 0.0}},
    ]
    talk.user({"type": "toolResponse", "id": "a", "toolResult": {"status": "success", "value": both}})
    assert kept(talk).turns[2].text == "a.py"


class TestTraps:
    def test_trap_2_one_message_in_several_rows_is_one_turn(self, kept: Keeps) -> None:
        talk = Talk()
        talk.user("Go.")
        talk.agent("First,", id="m")
        talk.agent("then that.", id="m")
        assert told(kept(talk)) == ["user: Go.", "agent: First,\n\nthen that."]

    def test_trap_3_compaction_gives_every_message_a_new_number_and_the_mark_still_holds(self, tmp_path: Path) -> None:
        talk = sample()
        talk.write_rows(tmp_path)
        first = fetched(tmp_path)
        for message in talk.messages:
            message["metadata"] = {"userVisible": True, "agentVisible": False}
            message["id"] = None
        talk.messages.insert(0, {**talk.messages[0], "content": [], "id": "x"})  # all row numbers are others now
        talk.agent("A summary of all that.", metadata={"userVisible": False, "agentVisible": True})
        talk.user("And the proxy?")
        talk.write_rows(tmp_path)
        second = fetched(tmp_path, mark_after(first))
        assert told(second) == ["user: And the proxy?"]

    def test_trap_3_a_mark_whose_message_is_gone_gives_what_came_later(self, tmp_path: Path) -> None:
        talk = sample()
        talk.write_rows(tmp_path)
        lost = evolve(mark_after(fetched(tmp_path)), last_record_id="gone")
        talk.user("And the proxy?")
        talk.write_rows(tmp_path)
        found = fetched(tmp_path, lost)
        assert told(found) == ["user: And the proxy?"]

    @pytest.mark.parametrize("kind", ["sub_agent", "scheduled", "hidden"])
    def test_trap_4_and_10_sub_agents_and_scheduled_sessions_are_automated(self, tmp_path: Path, kind: str) -> None:
        talk = sample()
        talk.session["session_type"] = kind
        talk.write_rows(tmp_path)
        found = fetched(tmp_path)
        assert found.automated
        assert Role.USER not in {turn.role for turn in found.turns}


def test_what_goose_tells_its_model_in_a_prompt_is_left_out(kept: Keeps) -> None:
    talk = Talk()
    talk.user("<info-msg>\nIt is 2026.\n</info-msg>\nWhich port?")
    assert told(kept(talk)) == ["user: Which port?"]


def test_blocks_that_say_nothing_are_silent_and_new_ones_are_counted(kept: Keeps) -> None:
    talk = Talk()
    talk.user("Go.", {"type": "image", "data": "…", "mimeType": "image/png"})
    talk.agent({"type": "thinking", "thinking": "Hm."}, {"type": "hologram"}, "Done.")
    found = kept(talk)
    assert told(found) == ["user: Go.\n\n[image]", "agent: Done."]
    assert found.skipped == {"unknown-type:hologram": 1}


def test_an_answer_to_a_question_is_the_persons(kept: Keeps) -> None:
    talk = Talk()
    action = {"actionType": "elicitationResponse", "id": "e", "userData": {"port": "9191"}}
    talk.user({"type": "actionRequired", "data": action})
    assert told(kept(talk)) == ["user: 9191"]


def test_a_format_that_changed_says_so(tmp_path: Path) -> None:
    talk = Talk()
    for _ in range(5):
        talk.message("narrator")
    talk.write_rows(tmp_path)
    error = refused(tmp_path)
    assert isinstance(error, HistoryUnreadable)
    assert "seems to have changed" in error.reason


def test_an_older_schema_without_ids_and_visibility_will_do(tmp_path: Path) -> None:
    talk = sample()
    talk.write_rows(tmp_path)
    whole = told(fetched(tmp_path))
    make_database(
        tmp_path / "sessions.db",
        "ALTER TABLE messages DROP COLUMN message_id",
        "ALTER TABLE messages DROP COLUMN metadata_json",
        "ALTER TABLE sessions DROP COLUMN model_config_json",
    )
    assert told(fetched(tmp_path)) == whole


def test_a_ruined_message_is_counted_and_the_rest_read(tmp_path: Path) -> None:
    talk = sample()
    talk.messages[1]["content"] = "{ this is not valid json"
    talk.write_rows(tmp_path)
    found = fetched(tmp_path)
    assert [turn.text for turn in found.turns] == ["Which port?", "9090", "Use 9191.", "Done."]
    assert found.skipped == {"bad-line": 1}
