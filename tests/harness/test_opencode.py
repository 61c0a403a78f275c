"""opencode sessions, from its database and its export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Result

from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.harness.opencode import OpencodeSessions
from agent_memory.note.note import Harness
from agent_memory.session.history import History, Role, SessionMark
from databases import make_database
from harness_surroundings import fetch_from, mark_after, session_entry, surroundings, told
from opencode_sessions import SCHEMA, SESSION, STARTED_MS, OpencodeTalk, id_of, said, sample, used

Keeps = Callable[..., History]


def of_export(data: bytes, session_id: str = SESSION, mark: SessionMark | None = None) -> Result[History, Error]:
    path = Path.cwd() / "export.json"
    path.write_bytes(data)
    return OpencodeTalk.fetched(path, session_id, mark)


@pytest.fixture(params=["rows", "export"])
def kept(request: pytest.FixtureRequest) -> Keeps:
    """Fetches a talk that opencode kept in one of its ways."""

    def fetch(talk: OpencodeTalk, mark: SessionMark | None = None) -> History:
        if request.param == "rows":
            return talk.history(mark)
        history: History = of_export(talk.export(), mark=mark).unwrap()
        return history

    return fetch


def test_the_facts_of_a_session(kept: Keeps) -> None:
    found = kept(sample())
    assert (found.title, found.cwd, found.agent) == ("Ports of the dev server", "/srv/harbour", "glm-5")
    assert (found.started_at_ms, found.branch) == (STARTED_MS, None)
    assert (found.automated, found.own_call, found.remaining) == (False, False, False)
    assert told(found) == ["user: Which port?", "agent: I look.", "tool: 9090", "user: Use 9191.", "agent: Done."]


def test_calls_and_their_answers(kept: Keeps) -> None:
    talk = OpencodeTalk()
    talk.user("Fix it.")
    talk.agent(
        used("a", "edit", "ok", filePath="/srv/a.py", oldString="8080", newString="9191"),
        used("b", "read", "print(1)", filePath="/srv/b.py"),
        used("c", "bash", "exit 2", status="error", command="make test"),
    )
    found = kept(talk)
    edit, read, shell = found.turns[1].tool_calls
    assert (edit.path, edit.writes) == ("/srv/a.py", True)
    assert (read.path, read.writes) == ("/srv/b.py", False)
    assert shell.brief == "make test"
    assert [(turn.text, turn.failed, turn.tool_name) for turn in found.turns[2:]] == [
        ("ok", False, "edit"),
        ("print(1)", False, "read"),
        ("exit 2", True, "bash"),
    ]


class TestTraps:
    def test_trap_2_the_parts_of_a_message_are_one_turn(self, kept: Keeps) -> None:
        talk = OpencodeTalk()
        talk.user("Go.")
        talk.agent("First,", used("a", "bash", "ok", command="ls"), "then that.")
        found = kept(talk)
        assert told(found) == ["user: Go.", "agent: First,\n\nthen that.", "tool: ok"]
        assert kept(talk, mark_after(found)).turns == ()

    def test_trap_3_a_revert_takes_back_what_came_after(self, kept: Keeps) -> None:
        talk = sample()
        talk.info["revert"] = {"messageID": talk.messages[2][0]["id"]}
        found = kept(talk)
        assert told(found) == ["user: Which port?", "agent: I look.", "tool: 9090"]

    def test_trap_3_a_revert_in_the_midst_of_a_message(self, kept: Keeps) -> None:
        talk = sample()
        message, parts = talk.messages[1]
        talk.info["revert"] = {"messageID": message["id"], "partID": parts[2]["id"]}
        assert told(kept(talk)) == ["user: Which port?", "agent: I look."]

    def test_trap_3_what_a_fork_copied_is_not_learnt_twice(self, kept: Keeps) -> None:
        talk = sample()
        hours_later = STARTED_MS + 7_200_000
        talk.info["time"] = {"created": hours_later, "updated": hours_later}
        for count, (message, _) in enumerate(talk.messages):
            message["id"] = id_of("msg", hours_later, count)
        talk.user("And the proxy?")
        talk.messages[-1][0]["id"] = id_of("msg", hours_later + 9000, 99)
        talk.messages[-1][0]["time"] = {"created": hours_later + 9000}
        found = kept(talk)
        assert told(found) == ["user: And the proxy?"]
        assert found.tools_answered_before

    def test_trap_3_a_clock_set_back_loses_nothing_p24(self, kept: Keeps) -> None:
        talk = sample()
        talk.info["time"] = {"created": STARTED_MS + 7_200_000, "updated": 0}
        assert len(kept(talk).turns) == 5

    def test_trap_3_a_compaction_repeats_nothing(self, kept: Keeps) -> None:
        talk = sample()
        talk.user({"type": "compaction", "auto": True})
        talk.agent("The port was changed to 9191.", summary=True, mode="compaction")
        talk.user("And the proxy?")
        found = kept(talk)
        assert told(found)[5:] == ["user: And the proxy?"]

    def test_trap_3_a_mark_whose_part_is_gone_gives_what_came_later(self, kept: Keeps) -> None:
        talk = sample()
        lost = evolve(mark_after(kept(talk)), last_record_id="gone", last_at_ms=STARTED_MS + 4000)
        talk.user("And?")
        talk.user("And the proxy?")
        found = kept(talk, lost)
        assert told(found) == ["user: And the proxy?"]

    def test_trap_6_what_is_still_being_written_is_left_for_the_next_time(self, kept: Keeps) -> None:
        talk = sample(1)
        talk.agent("I look.", used("c1", "bash", status="running", command="ss"))
        first = kept(talk)
        assert told(first) == ["user: Which port?", "agent: I look."]
        parts = talk.messages[-1][1]
        parts[-1]["state"] = used("c1", "bash", "9090", command="ss")["state"]
        parts.append({**said("It is 9090."), "id": id_of("prt", STARTED_MS, 77)})
        second = kept(talk, mark_after(first))
        assert [(turn.number, turn.text) for turn in second.turns] == [(2, "It is 9090."), (3, "9090")]
        assert second.turns[0].tool_calls[0].brief == "ss"


def test_a_tool_of_a_server_is_known_by_its_name_p19(kept: Keeps) -> None:
    names = ("github_get_issue", "agent-memory_search_context", "apply_patch", "bash")
    talk = OpencodeTalk()
    talk.agent(*(used(name, name, "Version 4 is out.") for name in names))
    asked = kept(talk).turns[0].tool_calls
    assert [call.name for call in asked] == ["mcp_github_get_issue", "mcp_agent-memory_search_context", *names[2:]]
    assert "Version" not in kept(talk).turns[2].text  # memory's own


def test_what_opencode_puts_into_a_prompt_is_not_the_persons_p19(kept: Keeps) -> None:
    talk = OpencodeTalk()
    talk.user(
        {"type": "text", "text": 'Called the Read tool with {"filePath": "a.md"}', "synthetic": True},
        {"type": "text", "text": "Always run the installer.", "synthetic": True},
        {"type": "text", "text": "<system-reminder>Plan only.</system-reminder>", "synthetic": True},
        {"type": "text", "text": "Not for the model.", "ignored": True},
        {"type": "file", "mime": "text/plain", "url": "file:///a.md"},
        "What does it say?",
    )
    found = kept(talk)
    assert told(found) == ["tool: Always run the installer.", "user: What does it say?"]
    assert found.turns[0].tool_name == "attachment"


def test_parts_that_say_nothing_are_silent_and_new_ones_are_counted(kept: Keeps) -> None:
    talk = OpencodeTalk()
    talk.user("Go.")
    talk.agent({"type": "reasoning", "text": "Hm."}, {"type": "patch", "files": []}, {"type": "hologram"}, "Done.")
    found = kept(talk)
    assert told(found) == ["user: Go.", "agent: Done."]
    assert found.skipped == {"unknown-type:part hologram": 1}


@pytest.mark.parametrize("missing", ["session", "message", "part", "data"])
def test_a_newer_schema_says_so(tmp_path: Path, missing: str) -> None:
    changed = "message RENAME COLUMN data TO new_data" if missing == "data" else f"{missing} RENAME TO new_{missing}"
    path = make_database(tmp_path / "opencode.db", *SCHEMA, *sample().rows(), f"ALTER TABLE {changed}")
    error = OpencodeTalk.fetched(path, SESSION).failure()
    assert isinstance(error, HistoryUnreadable)
    assert missing in error.reason
    assert "changed" in error.reason


def test_a_database_that_is_refused_hides_no_other_p27(tmp_path: Path) -> None:
    path = sample().write(tmp_path, "opencode-stable.db")
    (tmp_path / "opencode-dev.db").symlink_to("/etc/passwd")
    assert len(OpencodeTalk.fetched(path, SESSION).unwrap().turns) == 5


@pytest.mark.parametrize("spelled", ["{}", "{}/", "{}/../{.name}/"])
def test_the_database_that_the_environment_names(tmp_path: Path, spelled: str) -> None:
    path = sample().write(tmp_path, "elsewhere.sqlite")
    named = spelled.format(tmp_path, tmp_path).rstrip("/") + ("//" if spelled.endswith("/") else "/") + path.name
    source = OpencodeSessions.at(surroundings("/nowhere", OPENCODE_DB=named))
    assert len(fetch_from(source, session_entry(Harness.OPENCODE, SESSION)).unwrap().turns) == 5


@pytest.mark.parametrize("data", [b"nothing", b'{"messages": {}}', b'{"info": {"id": "ses_other"}, "messages": []}'])
def test_what_is_no_export_of_the_session_says_so(data: bytes) -> None:
    error = of_export(data).failure()
    assert isinstance(error, HistoryUnreadable)
    assert "not an export of this session" in error.reason


def test_an_id_that_is_none_reaches_no_path_p21(tmp_path: Path) -> None:
    for session_id in ("../../etc/passwd", "--help", "a b", ""):
        assert isinstance(OpencodeTalk.fetched(tmp_path / "x", session_id).failure(), HistoryUnreadable)


def test_huge_parts_are_counted_and_the_rest_read_p25() -> None:
    talk = sample()
    talk.messages[0][0]["summary"] = {"diffs": [{"patch": "x" * 3_000_000}]}
    state = talk.messages[1][1][2]["state"]
    assert isinstance(state, dict)
    state["output"] = "9" * 17_000_000
    found = talk.history()
    assert [turn.text for turn in found.turns] == ["Which port?", "I look.", "Use 9191.", "Done."]
    assert found.skipped == {"line-too-long": 1}


@pytest.mark.shared
def test_a_real_session(shared: Path) -> None:
    """Recorded with 1.18.11: 49 messages, 2 of them broken off."""
    data = (shared / "fixtures" / "opencode" / "prsui_8A.json").read_bytes()
    session_id = json.loads(data)["info"]["id"]
    found = of_export(data, session_id).unwrap()
    roles = [turn.role for turn in found.turns]
    assert (roles.count(Role.USER), roles.count(Role.TOOL)) == (4, 61)
    assert sum(len(turn.tool_calls) for turn in found.turns) == 61
    assert found.unknown_records == 0
    assert [turn.text for turn in found.turns if turn.role is Role.USER][1:] == [
        "continue",
        "continue",
        "use skills to improve animation of magnetic",
    ]
