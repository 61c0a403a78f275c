from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.change import Applied
from agent_memory.domain.run_log import LoggedAction, LoggedRun, LoggedSession, logged_actions
from agent_memory.errors import AgentMissing, StateCorrupt
from agent_memory.formats.report_json import parse_report, render_report_document
from agent_memory.wording import describe

MERGE = LoggedAction("merge", ("id__a1b2c3", "id__d4e5f6"), ("id__g7h8j9",), "Ports of the api", "f" * 32)
RUN = LoggedRun(
    run_id="2026-02-13T14-30-05.123Z_4dbfbe",
    machine="defrag",
    started_at_ms=1_770_993_005_123,
    ended_at_ms=1_770_993_010_000,
    result="completed",
    summary="1 merged",
    actions=(MERGE,),
    dropped=("id__a1b2c3: it is pinned",),
    warnings=("git is away",),
)
SESSION = {
    "inbox": ["a.json"],
    "harness": "amp",
    "session": "T-1",
    "outcome": {"verdict": "written", "reason": "", "entries": ["id__a1b2c3"], "dropped": ["b: too long"]},
    "applied": [],
}


def parsed(text: str) -> Any:
    return parse_report(text.encode(), "report.json")


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        evolve(RUN, machine="undo", undid="2026-02-13T14-00-00.000Z_aaaaaa", actions=()),
        evolve(RUN, machine="consolidate", ended_at_ms=None, result="paused"),
    ],
)
def test_a_report_is_read_as_it_was_written(run: LoggedRun) -> None:
    assert parsed(render_report_document(run)) == Success(run)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
actions = st.builds(LoggedAction, text, st.tuples(text), st.tuples(text, text), text, text)


@settings(max_examples=60)
@given(st.lists(actions, max_size=4), text, st.lists(text, max_size=3))
def test_any_words_survive(done: list[LoggedAction], summary: str, dropped: list[str]) -> None:
    run = evolve(RUN, actions=tuple(done), summary=summary, dropped=tuple(dropped))
    assert parsed(render_report_document(run)) == Success(run)


def test_an_error_is_told_by_its_code_and_in_words() -> None:
    error = AgentMissing("llm")
    document = render_report_document(evolve(RUN, result="paused"), error)
    assert json.loads(document)["error"] == {"code": "agent-missing", "message": describe(error)}
    assert parsed(document).unwrap().error == describe(error)


def test_sessions_are_read_with_their_outcome() -> None:
    document = render_report_document(RUN, more={"sessions": [SESSION], "waiting": 0})
    assert parsed(document).unwrap().sessions == (
        LoggedSession("amp", "T-1", "written", "", ("id__a1b2c3",), ("b: too long",)),
    )


def test_what_is_absent_is_empty_and_what_is_unknown_is_no_matter() -> None:
    document = {"version": 1, "run": "r", "machine": "undo", "startedAt": "2026-02-13T14:30:05.123Z", "new": 1}
    read = parsed(json.dumps({**document, "result": "completed"})).unwrap()
    assert (read.run_id, read.machine, read.actions, read.ended_at_ms, read.error) == ("r", "undo", (), None, "")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ({"version": 2}, "version is 2"),
        ({"machine": "sweep"}, "machine is 'sweep'"),
        ({"startedAt": "yesterday"}, "startedAt is not an instant"),
        ({"actions": {}}, "actions is not a list"),
        ({"actions": [{"kind": 1, "ids": []}]}, "actions[0].kind is not text"),
        ({"sessions": [{}]}, "sessions[0].outcome is missing"),
        ({"error": "none"}, "error is 'none', expected an object"),
        ({"summary": None}, "summary is not text"),
    ],
)
def test_a_damaged_report_is_an_error_that_says_where_p6(damage: dict[str, object], problem: str) -> None:
    document = {**json.loads(render_report_document(RUN)), **damage}
    failure = parsed(json.dumps(document)).failure()
    assert isinstance(failure, StateCorrupt)
    assert any(problem in each for each in failure.problems), failure.problems


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"version": 1'])
def test_what_is_no_report_is_an_error_p6(text: str) -> None:
    assert isinstance(parsed(text).failure(), StateCorrupt)


def test_a_created_entry_is_new_and_every_other_was_there() -> None:
    made = [
        Applied("id__a1b2c3", act, "topics/x.md", (), None, None, "Ports") for act in ("create", "replace", "retire")
    ]
    create, replace, retire = logged_actions(made)
    assert (create.ids, create.new_ids, create.words) == ((), ("id__a1b2c3",), "Ports")
    assert {(each.ids, each.new_ids) for each in (replace, retire)} == {(("id__a1b2c3",), ())}
