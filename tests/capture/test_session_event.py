"""Which session a hook's payload or a transcript's path tells of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.capture.session_event import (
    PAYLOAD_KEYS,
    SHAPES,
    SessionEvent,
    method_of,
    session_event,
)
from hook_calls import ID, PAYLOADS

CLAUDE: dict[str, object] = {"session_id": ID, "transcript_path": "/t/x.jsonl", "cwd": "/p", "hook_event_name": "Stop"}


def read(payload: object, harness: str = "claude-code") -> SessionEvent:
    event = session_event(harness, payload)
    assert isinstance(event, SessionEvent)
    return event


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"}, "prompt_input_exit"),
        ({"hook_event_name": "PreCompact", "trigger": "auto"}, "auto"),
        ({"hook_event_name": "PostCompact", "trigger": "manual"}, "manual"),
        ({"hook_event_name": "StopFailure", "error_type": "overloaded"}, None),
        ({"hook_event_name": "SessionStart", "source": "resume"}, "resume"),
        ({"hook_event_name": "SessionStart", "source": "compact"}, "compact"),
        ({"hook_event_name": "SubagentStop", "agent_type": "general-purpose", "agent_id": "a"}, None),
        ({"hook_event_name": "UserPromptSubmit", "prompt": "hello"}, None),
        ({"hook_event_name": "SomeFutureEventV2"}, None),
        ({"hook_event_name": "SessionEnd", "reason": "the user wrote a whole sentence"}, None),
        ({"hook_event_name": "SessionEnd", "reason": "ghp_I6mAezmOWfSLjl8MU9cdrJRM2jVrVKch3Tz8"}, None),
    ],
)
def test_events_that_may_bring_something_new_are_recorded(members: dict[str, object], reason: str | None) -> None:
    event = read({**CLAUDE, **members})
    assert (event.session_id, event.event, event.reason) == (ID, members["hook_event_name"], reason)


@pytest.mark.parametrize(
    "members",
    [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "SessionStart", "source": "clear"},
        {"hook_event_name": "SessionStart", "source": "fork"},
        {"hook_event_name": "SessionStart"},
        {"hook_event_name": "SubagentStop", "agent_type": "", "agent_id": "abfe01ea9058ee9c6"},
    ],
)
def test_events_that_can_say_nothing_new_are_not_recorded(members: dict[str, object]) -> None:
    assert session_event("claude-code", {**CLAUDE, **members}) is None


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({}, "session_id is missing"),
        ({"session_id": 12345}, "session_id is 12345, expected text"),
        ({"session_id": {"a": 1}}, "session_id is an object, expected text"),
        ({"session_id": "../../x"}, "session_id is '../../x', expected letters"),
        ({"session_id": "x" * 1000}, "session_id has 1,000 characters"),
        ({"session_id": ""}, "session_id is empty"),
        ([], "the payload is a list, expected an object"),
        (None, "the payload is null, expected an object"),
        ("Stop", "the payload is 'Stop', expected an object"),
    ],
)
def test_a_payload_that_names_no_session_is_a_problem_in_words(payload: object, problem: str) -> None:
    found = session_event("claude-code", payload)
    assert isinstance(found, str)
    assert problem in found


@pytest.mark.parametrize("value", [7, [], {}, "relative", "", "/a\x00b", "/\ud800", "/" + "x" * 5000])
def test_an_unusable_path_is_left_out_and_the_session_kept(value: object) -> None:
    event = read({**CLAUDE, "cwd": value, "transcript_path": value})
    assert (event.session_id, event.cwd, event.session_path) == (ID, None, None)


def test_an_unknown_harness_is_a_problem() -> None:
    assert session_event("emacs", CLAUDE) == f"emacs has no hooks; known are {', '.join(SHAPES)}"


_paths = st.lists(st.sampled_from(["", "a", "subagents", "chats", "projects", "agent-transcripts", "x.jsonl"])).map(
    "/".join
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | _paths,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.sampled_from(sorted(SHAPES)),
    st.dictionaries(st.sampled_from(sorted(PAYLOAD_KEYS)) | st.text(), _values, max_size=8) | _values,
)
@settings(max_examples=150)
def test_no_payload_makes_it_crash(harness: str, payload: object) -> None:
    assert isinstance(session_event(harness, payload), SessionEvent | str | None)


COPILOT_PASCAL: dict[str, object] = {
    "session_id": ID,
    "timestamp": "2026-02-13T14:30:05.000Z",
    "cwd": "/p",
    "transcript_path": f"/h/.copilot/session-state/{ID}/events.jsonl",
    "hook_event_name": "Stop",
}


@pytest.mark.parametrize("harness", PAYLOADS)
def test_every_harness_tells_session_directory_and_event_and_is_known_by_its_payload(harness: str) -> None:
    payload = PAYLOADS[harness]
    event = read(payload, harness)
    assert (event.harness, event.method) == (harness, method_of(harness))
    assert (event.session_id, event.cwd) == (ID, "/p")
    assert event.event is not None
    of_its_own = ("amp", "opencode", "pi")
    for named in SHAPES:
        taken = session_event(named, payload)
        if isinstance(taken, SessionEvent):
            assert (taken.method, taken.session_id in str(payload)) == (method_of(taken.harness), True)
            assert taken.harness == harness or harness in of_its_own or named in of_its_own
        else:
            assert taken is not None
            assert taken.endswith("is missing")
            assert harness in of_its_own or named in of_its_own


def test_cursor_tells_its_version_and_its_first_directory_in_claude_codes_hook() -> None:
    event = read(PAYLOADS["cursor"], "claude-code")
    assert (event.harness, event.cwd, event.harness_version) == ("cursor", "/p", "2026.09.28-64d2043")


@pytest.mark.parametrize(
    ("payload", "harness"),
    [
        (COPILOT_PASCAL, "copilot"),
        ({key: COPILOT_PASCAL[key] for key in ("session_id", "timestamp", "cwd", "hook_event_name")}, "copilot"),
        ({"session_id": ID, "turn_id": "1", "hook_event_name": "Stop"}, "codex"),
        ({**CLAUDE, "timestamp": "2026-02-13T14:30:05.000Z"}, "claude-code"),
        ({"conversation_id": ID, "generation_id": "g", "hook_event_name": "stop"}, "cursor"),
        ({**CLAUDE, "transcript_path": f"/x/projects/p/agent-transcripts/{ID}/{ID}.jsonl"}, "cursor"),
        ({**CLAUDE, "transcript_path": f"/x/projects/p/agent-transcripts/{ID}/subagents/s.jsonl"}, "cursor"),
        ({**CLAUDE, "transcript_path": f"/g/tmp/lamp/chats/{ID}/s.jsonl"}, "gemini"),
    ],
)
def test_a_double_capture_through_claude_codes_hook_is_recognised(payload: dict[str, object], harness: str) -> None:
    assert read(payload, "claude-code").harness == harness


@pytest.mark.parametrize(
    ("members", "event"),
    [
        ({"stopReason": "end_turn"}, "agentStop"),
        ({"reason": "user_exit"}, "sessionEnd"),
        ({"trigger": "auto", "customInstructions": ""}, "preCompact"),
        ({"source": "resume"}, "sessionStart"),
        ({"prompt": "never kept"}, "userPromptSubmitted"),
        ({"agentName": "explore"}, "subagentStop"),
    ],
)
def test_copilots_events_without_a_name_are_known_by_their_keys(members: dict[str, object], event: str) -> None:
    assert read({"sessionId": ID, "timestamp": 1, "cwd": "/p", **members}, "copilot").event == event


@pytest.mark.parametrize(
    ("harness", "payload"),
    [
        ("copilot", {"sessionId": ID, "timestamp": 1, "source": "new", "initialPrompt": "hello"}),
        ("amp", {**PAYLOADS["amp"], "type": "session.start"}),
        ("pi", {**PAYLOADS["pi"], "type": "session_start"}),
    ],
)
def test_the_start_of_an_empty_session_is_not_recorded(harness: str, payload: dict[str, object]) -> None:
    assert session_event(harness, payload) is None
    assert isinstance(session_event(harness, PAYLOADS[harness]), SessionEvent)


def test_an_event_as_opencode_hands_it_to_a_plugin_may_be_passed_on_whole() -> None:
    event = read({"event": {"type": "session.idle", "properties": {"sessionID": "ses_1"}}, "cwd": "/p"}, "opencode")
    assert (event.session_id, event.event, event.cwd) == ("ses_1", "session.idle", "/p")


CURSOR_ROOT = "/c/agent-transcripts/root-1"


@pytest.mark.parametrize(
    ("harness", "payload", "session_id", "path"),
    [
        ("cursor", {"transcript_path": f"{CURSOR_ROOT}/subagents/s.jsonl"}, "root-1", f"{CURSOR_ROOT}/root-1.jsonl"),
        ("cursor", {"parent_conversation_id": "root-1"}, "root-1", None),
        ("gemini", {"transcript_path": "/g/chats/root-1/s.jsonl"}, "root-1", None),
        ("claude-code", {"transcript_path": "/c/root-1/subagents/agent-s.jsonl"}, "root-1", "/c/root-1.jsonl"),
        ("claude-code", {"transcript_path": "/c/root-1/subagents/flow/agent-s.jsonl"}, "root-1", "/c/root-1.jsonl"),
        ("opencode", {"parentID": "ses_0"}, "ses_0", None),
        ("claude-code", {"hook_event_name": "SubagentStop", "agent_id": "a", "agent_transcript_path": "/x"}, ID, ...),
        ("codex", {"hook_event_name": "SubagentStop", "agent_id": "a", "turn_id": "t"}, ID, ...),
    ],
)
def test_a_sub_agents_is_its_roots(harness: str, payload: dict[str, object], session_id: str, path: object) -> None:
    event = read({**PAYLOADS[harness], **payload}, harness)
    assert (event.harness, event.session_id) == (harness, session_id)
    assert event.session_path == (PAYLOADS[harness]["transcript_path"] if path is ... else path)


@pytest.mark.parametrize("root", ["../x", "", "a b", 7, None, "x" * 500])
def test_a_root_that_could_not_be_one_is_no_root(root: object) -> None:
    assert read({**PAYLOADS["opencode"], "parentID": root}, "opencode").session_id == ID


@pytest.mark.parametrize("path", ["/c//subagents/s.jsonl", "/c/a b/subagents/s.jsonl", "/c/../subagents/s.jsonl"])
def test_a_path_that_names_no_possible_root_is_a_roots(path: str) -> None:
    event = read({**CLAUDE, "transcript_path": path})
    assert (event.session_id, event.session_path) == (ID, path)


HOME = "/home/ada"


@pytest.mark.parametrize(
    ("path", "harness"),
    [
        (f"{HOME}/.claude/projects/-home-ada-lamp/3f1c.jsonl", "claude-code"),
        ("/srv/claude/projects/p/3f1c.jsonl", "claude-code"),
        (f"{HOME}/.codex/sessions/2026/02/13/rollout-2026-02-13T14-30-05-3f1c.jsonl", "codex"),
        (f"{HOME}/.cursor/projects/home-ada-lamp/agent-transcripts/3f1c/3f1c.jsonl", "cursor"),
        (f"{HOME}/.cursor/projects/home-ada-lamp/agent-transcripts/3f1c.txt", "cursor"),
        (f"{HOME}/.gemini/tmp/lamp/chats/session-2026-02-13T14-30-3f1c8f0e.jsonl", "gemini"),
        (f"{HOME}/.gemini/tmp/lamp/chats/session-2026-02-13T14-30-3f1c8f0e.json", "gemini"),
        (f"{HOME}/.copilot/session-state/3f1c/events.jsonl", "copilot"),
        (f"{HOME}/.copilot/session-state/3f1c.jsonl", "copilot"),
        *((path, "goose") for path in ("/t/x.jsonl", f"{HOME}/projects/lamp.jsonl", f"{HOME}/projects/a/b/c.md")),
    ],
)
def test_a_payload_is_of_the_harness_that_keeps_its_transcripts_like_this(path: str, harness: str) -> None:
    event = read({"session_id": ID, "transcript_path": path, "event": "Stop"}, "goose")
    assert (event.harness, event.session_id) == (harness, ID)
