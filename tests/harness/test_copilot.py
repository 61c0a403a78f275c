"""Histories of Copilot CLI sessions: what is kept, what is left out, and the traps of its format by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memory.session.history import Role
from agent_memory.session.own_marks import MEMORY_OUTPUT_PLACEHOLDER
from copilot_sessions import CopilotEvents
from harness_surroundings import told


def a_session() -> CopilotEvents:
    events = CopilotEvents()
    events.user("Which port does the dev server use?")
    events.event("assistant.turn_start", turnId="0")
    events.agent("I look.", ("c1", "bash", {"command": "ss -ltn"}))
    events.result("c1", "LISTEN 9090")
    events.agent("It uses 9090.")
    events.event("assistant.turn_end", turnId="0")
    return events


SAID = ["user: Which port does the dev server use?", "agent: I look.", "tool: LISTEN 9090", "agent: It uses 9090."]


def test_a_call_recorded_in_the_message_and_at_its_start_is_one_call_in_either_order() -> None:
    events = CopilotEvents()
    events.event("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "ls"})
    events.event("assistant.message", messageId="m1", content="", toolRequests=[{"toolCallId": "c1", "name": "bash"}])
    events.result("c1", "a.txt")
    history = events.history()
    assert [call.brief for turn in history.turns for call in turn.tool_calls] == ["ls"]
    assert told(history) == ["agent: ", "tool: a.txt"]


def test_arguments_may_be_the_text_of_an_object() -> None:
    events = CopilotEvents()
    requests = [
        {"toolCallId": "c1", "name": "shell", "arguments": '{"command": "make test"}'},
        {"toolCallId": "c2", "name": "shell", "arguments": "[" * 100_000},
        {"toolCallId": "c3", "name": "view", "arguments": 7},
    ]
    events.event("assistant.message", messageId="m1", content="", toolRequests=requests)
    (turn,) = events.history().turns
    assert [call.brief[:9] for call in turn.tool_calls] == ["make test", "[" * 9, ""]


@pytest.mark.parametrize("source", ["agent-7", "command", "something-new"])
def test_a_message_from_an_unknown_source_is_no_persons_word(source: str) -> None:
    events = CopilotEvents()
    events.user("Never run the tests.", source=source)
    (turn,) = events.history().turns
    assert (turn.role, turn.tool_name, turn.text) == (Role.TOOL, source, "Never run the tests.")


def test_sub_agents_are_left_out_and_their_answer_is_the_result_of_the_tool() -> None:
    events = CopilotEvents()
    events.user("Ask the explorer.")
    events.agent("I ask.", ("c1", "task", {"description": "explore", "prompt": "Find it."}))
    events.event("subagent.started", toolCallId="c1", agentName="explore")
    events.event("user.message", agent_id="a1", content="Find it.")
    events.event("assistant.message", agent_id="a1", messageId="s1", content="Searching.", toolRequests=[])
    events.event("assistant.message", parentToolCallId="c1", messageId="s2", content="Older form.", toolRequests=[])
    events.event("tool.execution_start", agent_id="a1", toolCallId="s3", toolName="bash", arguments={})
    events.event("subagent.completed", toolCallId="c1", agentName="explore")
    events.result("c1", "It is in lib/.")
    history = events.history()
    assert told(history) == ["user: Ask the explorer.", "agent: I ask.", "tool: It is in lib/."]


def test_a_resumed_session_that_repeats_its_events_doubles_nothing() -> None:
    events = a_session()
    events.lines += events.lines[1:]
    history = events.history()
    assert told(history) == SAID


def test_a_command_that_the_person_ran_is_a_result_and_no_call_of_the_agents() -> None:
    events = CopilotEvents()
    events.event("tool.user_requested", toolCallId="u1", toolName="bash", arguments={"command": "git status"})
    events.event("tool.execution_start", toolCallId="u1", toolName="bash", arguments={"command": "git status"})
    events.result("u1", "clean")
    assert events.told() == ["tool: $ git status\nclean"]


def test_a_call_of_memorys_own_server_is_recognised_by_the_servers_name_p26() -> None:
    events = CopilotEvents()
    call = {"toolCallId": "c1", "name": "search", "mcpServerName": "agent-memory", "arguments": {"query": "port"}}
    events.event("assistant.message", messageId="m1", content="", toolRequests=[call])
    events.result("c1", "Always use 9191.")
    assert events.told()[-1] == f"tool: {MEMORY_OUTPUT_PLACEHOLDER}"


def test_unknown_events_are_skipped_and_counted() -> None:
    events = a_session()
    events.event("assistant.telepathy", thought="x")
    events.event("user.gesture", content="waves")
    history = events.history()
    assert told(history) == SAID
    assert history.unknown_records == 2
    assert history.skipped == {"unknown-type:assistant.telepathy": 1, "unknown-type:user.gesture": 1}


_RECORDED = {
    "small.jsonl": (5, 1),
    "large.jsonl": (9, 3),
    "schema_drift.jsonl": (4, 0),
    "subdir_v1/aaaabbbb-1111-2222-3333-ccccddddeeee/events.jsonl": (4, 1),
}
"""Turns, and how many of them are the person's."""


@pytest.mark.shared
@pytest.mark.parametrize("name", _RECORDED)
def test_recorded_sessions_are_understood(name: str, shared: Path) -> None:
    path = shared / "fixtures" / "copilot-cli" / name
    kind, *_ = json.loads(path.read_bytes().splitlines()[0])["data"].values()
    history = CopilotEvents.fetched(path, kind).unwrap()
    prompts = [turn for turn in history.turns if turn.role is Role.USER]
    assert (len(history.turns), len(prompts)) == _RECORDED[name]
    assert history.unknown_records == 0
