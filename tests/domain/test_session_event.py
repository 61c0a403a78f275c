from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.queueing.session_event import PAYLOAD_KEYS, SHAPES, SessionEvent, session_event

ID = "10000000-0000-4000-8000-00000000000c"
CLAUDE: dict[str, object] = {"session_id": ID, "transcript_path": "/t/x.jsonl", "cwd": "/p", "hook_event_name": "Stop"}


def read(payload: object, harness: str = "claude-code") -> SessionEvent:
    event = session_event(harness, payload)
    assert isinstance(event, SessionEvent)
    return event


def test_the_turns_end_locates_the_session() -> None:
    event = read({**CLAUDE, "last_assistant_message": "never kept"})
    assert (event.harness, event.method, event.session_id) == ("claude-code", "claude-code-session", ID)
    assert (event.session_path, event.cwd, event.event, event.reason) == ("/t/x.jsonl", "/p", "Stop", None)


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
        {"hook_event_name": "SubagentStart", "agent_type": "general-purpose"},
        {"hook_event_name": "SubagentStop", "agent_type": "", "agent_id": "abfe01ea9058ee9c6"},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": "PostToolUse"},
        {"hook_event_name": "CwdChanged"},
        {"hook_event_name": "Notification"},
    ],
)
def test_events_that_can_say_nothing_new_are_not_recorded(members: dict[str, object]) -> None:
    assert session_event("claude-code", {**CLAUDE, **members}) is None


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({}, "session_id is missing"),
        ({"session_id": 12345}, "session_id is 12345, expected text"),
        ({"session_id": "../../x"}, "session_id is '../../x', expected letters"),
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


@pytest.mark.parametrize("value", [None, 7, [], {}, "relative", "", "/a\x00b", "/\ud800", "/" + "x" * 5000])
def test_an_unusable_path_is_left_out_and_the_session_kept(value: object) -> None:
    event = read({**CLAUDE, "cwd": value, "transcript_path": value})
    assert (event.session_id, event.cwd, event.session_path) == (ID, None, None)


CURSOR: dict[str, object] = {
    "conversation_id": "6e22aebd-b34d",
    "session_id": "6e22aebd-b34d",
    "hook_event_name": "sessionEnd",
    "cursor_version": "2026.09.28-64d2043",
    "workspace_roots": ["/w", "/v"],
    "transcript_path": None,
    "reason": "completed",
}


@pytest.mark.parametrize("named", ["claude-code", "cursor"])
def test_cursor_is_recognised_in_the_hooks_it_takes_over_from_claude_code(named: str) -> None:
    event = read(CURSOR, named)
    assert (event.harness, event.method, event.cwd) == ("cursor", "cursor-session", "/w")
    assert (event.session_id, event.harness_version, event.session_path) == (
        "6e22aebd-b34d",
        "2026.09.28-64d2043",
        None,
    )


def test_copilot_is_recognised_by_both_spellings() -> None:
    assert read({"sessionId": "c-1", "timestamp": 1, "cwd": "/p", "reason": "complete"}).harness == "copilot"
    pascal = {"session_id": "c-1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/p", "hook_event_name": "SessionEnd"}
    assert read(pascal).harness == "copilot"


def test_codex_is_recognised_by_its_turns() -> None:
    assert read({**CLAUDE, "turn_id": "1"}).harness == "codex"


def test_gemini_and_goose_are_what_their_command_line_says() -> None:
    assert read({**CLAUDE, "timestamp": "x"}, "gemini").method == "gemini-session"
    assert read({"event": "Stop", "session_id": "g-1", "working_dir": "/p"}, "goose").cwd == "/p"


def test_an_unknown_harness_is_a_problem() -> None:
    assert session_event("emacs", CLAUDE) == f"emacs has no hooks; known are {', '.join(SHAPES)}"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.sampled_from(sorted(SHAPES)),
    st.dictionaries(st.sampled_from(sorted(PAYLOAD_KEYS)) | st.text(), _values, max_size=8) | _values,
)
@settings(max_examples=150)
def test_no_payload_makes_it_crash(harness: str, payload: object) -> None:
    assert isinstance(session_event(harness, payload), SessionEvent | str | None)
