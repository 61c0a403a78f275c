"""What a hook's payload says of the moment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memory.domain.injecting.moment import MAX_PROMPT_CHARS, Moment, moment_of

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hook-payloads"
ID = "3f1c8f0e-7d1a-4c55-9a0e-2b6f4f0c9d11"
TRANSCRIPT = f"/h/.claude/projects/lamp/{ID}.jsonl"


def told(named: str, **payload: object) -> Moment | str | None:
    return moment_of(named, payload)


@pytest.mark.parametrize(
    ("harness", "start", "asked"),
    [
        (
            "claude-code",
            {"session_id": ID, "transcript_path": TRANSCRIPT, "hook_event_name": "SessionStart", "source": "startup"},
            {"session_id": ID, "transcript_path": TRANSCRIPT, "hook_event_name": "UserPromptSubmit", "prompt": "Why?"},
        ),
        (
            "codex",
            {"session_id": ID, "transcript_path": None, "hook_event_name": "SessionStart", "source": "startup"},
            {"session_id": ID, "turn_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "Why?"},
        ),
        (
            "gemini",
            {"session_id": ID, "timestamp": "2026-02-13T14:30:05Z", "hook_event_name": "SessionStart"},
            {"session_id": ID, "hook_event_name": "BeforeAgent", "prompt": "Why?"},
        ),
        (
            "amp",
            {"event": "session.start", "thread": {"id": f"T-{ID}"}},
            {"event": "agent.start", "thread": {"id": f"T-{ID}"}, "prompt": "Why?"},
        ),
        (
            "opencode",
            {"type": "session.start", "properties": {"sessionID": ID}, "source": "compact"},
            {"type": "chat.message", "properties": {"sessionID": ID}, "prompt": "Why?"},
        ),
        (
            "pi",
            {"type": "session_start", "sessionId": ID},
            {"type": "before_agent_start", "sessionId": ID, "prompt": "Why?"},
        ),
    ],
)
def test_each_harness_tells_of_a_start_and_of_a_prompt(
    harness: str, start: dict[str, object], asked: dict[str, object]
) -> None:
    began, prompted = moment_of(harness, start), moment_of(harness, asked)
    assert isinstance(began, Moment)
    assert isinstance(prompted, Moment)
    assert (began.kind, began.prompt, prompted.kind, prompted.prompt) == ("start", "", "prompt", "Why?")
    assert (began.harness, began.event.session_id) == (prompted.harness, prompted.event.session_id)
    assert began.harness == harness
    assert prompted.is_fresh is False


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PostToolUse", "Notification", "NeverHeardOf"])
def test_other_events_are_no_moment(event: str) -> None:
    assert told("claude-code", session_id=ID, hook_event_name=event, transcript_path=TRANSCRIPT) is None


@pytest.mark.parametrize(
    "marks",
    [
        {"agent_id": "abfe01ea9058ee9c6"},
        {"agent_id": "abfe01ea9058ee9c6", "agent_type": "Explore"},
        {"transcript_path": f"/h/.claude/projects/lamp/{ID}/subagents/agent-1.jsonl", "session_id": "another"},
    ],
)
def test_a_sub_agent_is_told_nothing(marks: dict[str, object]) -> None:
    whole = {"session_id": ID, "transcript_path": TRANSCRIPT, "hook_event_name": "UserPromptSubmit", "prompt": "Why?"}
    assert moment_of("claude-code", {**whole, **marks}) is None
    assert isinstance(moment_of("claude-code", whole), Moment)


def test_a_child_session_of_opencode_or_cursor_is_told_nothing() -> None:
    opencode = {"type": "chat.message", "properties": {"sessionID": "ses_1"}, "prompt": "Why?"}
    assert moment_of("opencode", {**opencode, "parentID": "ses_0"}) is None
    assert isinstance(moment_of("opencode", opencode), Moment)
    cursor = {"conversation_id": ID, "hook_event_name": "sessionStart", "cursor_version": "3.1"}
    assert moment_of("cursor", {**cursor, "parent_conversation_id": "x-1"}) is None
    assert isinstance(moment_of("cursor", cursor), Moment)


@pytest.mark.parametrize(
    ("source", "fresh"), [("compact", True), ("clear", True), ("resume", False), ("startup", False)]
)
def test_after_a_compaction_what_was_there_is_gone(source: str, fresh: bool) -> None:
    moment = told("codex", session_id=ID, hook_event_name="SessionStart", source=source)
    assert isinstance(moment, Moment)
    assert (moment.kind, moment.is_fresh) == ("start", fresh)


def test_gemini_tells_of_its_compaction_by_an_event() -> None:
    moment = told("gemini", session_id=ID, hook_event_name="PreCompress", trigger="auto")
    assert isinstance(moment, Moment)
    assert (moment.kind, moment.is_fresh) == ("compact", True)


def test_a_session_of_cursor_in_claude_codes_hook_is_cursors() -> None:
    moment = told(
        "claude-code", conversation_id=ID, generation_id="g", cursor_version="3.1", hook_event_name="SessionStart"
    )
    assert isinstance(moment, Moment)
    assert moment.harness == "cursor"


@pytest.mark.parametrize("payload", [None, [], "x", 7, {}, {"session_id": 7, "hook_event_name": "SessionStart"}])
def test_an_unusable_payload_is_a_problem_in_words(payload: object) -> None:
    assert isinstance(moment_of("claude-code", payload), str)


def test_a_long_prompt_counts_by_its_beginning_and_other_types_not_at_all() -> None:
    long = told("codex", session_id=ID, hook_event_name="UserPromptSubmit", prompt="x" * 100_000)
    assert isinstance(long, Moment)
    assert len(long.prompt) == MAX_PROMPT_CHARS
    odd = told("codex", session_id=ID, hook_event_name="UserPromptSubmit", prompt=["x"])
    assert isinstance(odd, Moment)
    assert odd.prompt == ""


def test_recorded_payloads() -> None:
    kinds = {}
    for file in FIXTURES.glob("*.json"):
        moment = moment_of("claude-code", json.loads(file.read_text()))
        kinds[file.stem] = moment.kind if isinstance(moment, Moment) else moment
    assert {name: kind for name, kind in kinds.items() if kind is not None} == {
        "codex-session-start": "start",
        "codex-user-prompt-submit": "prompt",
        "cursor-session-start": "start",
        "gemini-before-agent": "prompt",
        "gemini-session-start": "start",
        "pre-compact": "compact",
        "session-start-compact": "start",
        "session-start-resume": "start",
        "session-start-startup": "start",
        "user-prompt-submit": "prompt",
    }
