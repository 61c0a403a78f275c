from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.queueing.session_event import keeper_of, root_session

HOME = "/home/ada"
KEPT = {
    f"{HOME}/.claude/projects/-home-ada-lamp/3f1c.jsonl": "claude-code",
    "/srv/claude/projects/p/3f1c.jsonl": "claude-code",
    f"{HOME}/.codex/sessions/2026/02/13/rollout-2026-02-13T14-30-05-3f1c.jsonl": "codex",
    f"{HOME}/.cursor/projects/home-ada-lamp/agent-transcripts/3f1c/3f1c.jsonl": "cursor",
    f"{HOME}/.cursor/projects/home-ada-lamp/agent-transcripts/3f1c.txt": "cursor",
    f"{HOME}/.cursor/projects/home-ada-lamp/agent-transcripts/3f1c/subagents/9a.jsonl": "cursor",
    f"{HOME}/.gemini/tmp/lamp/chats/session-2026-02-13T14-30-3f1c8f0e.jsonl": "gemini",
    f"{HOME}/.gemini/tmp/lamp/chats/session-2026-02-13T14-30-3f1c8f0e.json": "gemini",
    f"{HOME}/.gemini/tmp/lamp/chats/3f1c/9a.jsonl": "gemini",
    f"{HOME}/.copilot/session-state/3f1c/events.jsonl": "copilot",
    f"{HOME}/.copilot/session-state/3f1c.jsonl": "copilot",
}


@pytest.mark.parametrize(("path", "harness"), KEPT.items())
def test_each_harness_keeps_its_transcripts_in_its_own_way(path: str, harness: str) -> None:
    assert keeper_of(path) == harness


@pytest.mark.parametrize(
    "path", ["", "/", "x", "/t/x.jsonl", f"{HOME}/projects/lamp.jsonl", f"{HOME}/projects/a/b/c.md"]
)
def test_any_other_path_says_nothing(path: str) -> None:
    assert keeper_of(path) is None


ROOTS = {
    f"{HOME}/.claude/projects/p/3f1c/subagents/agent-9a.jsonl": ("3f1c", f"{HOME}/.claude/projects/p/3f1c.jsonl"),
    f"{HOME}/.claude/projects/p/3f1c/subagents/flow/agent-9a.jsonl": ("3f1c", f"{HOME}/.claude/projects/p/3f1c.jsonl"),
    "/c/agent-transcripts/3f1c/subagents/9a.jsonl": ("3f1c", "/c/agent-transcripts/3f1c/3f1c.jsonl"),
    "/g/chats/3f1c/9a.jsonl": ("3f1c", None),
}


@pytest.mark.parametrize(("path", "root"), ROOTS.items())
def test_a_sub_agents_transcript_tells_which_session_started_it(path: str, root: tuple[str, str | None]) -> None:
    assert root_session(path) == root


@pytest.mark.parametrize("path", [each for each in KEPT if "9a" not in each])
def test_a_roots_transcript_tells_of_no_other(path: str) -> None:
    assert root_session(path) is None


@given(
    st.lists(st.sampled_from(["", "a", "subagents", "chats", "projects", "agent-transcripts", "x.jsonl"])).map("/".join)
)
@settings(max_examples=60)
def test_no_path_makes_it_crash(path: str) -> None:
    assert isinstance(keeper_of(path), str | None)
    assert isinstance(root_session(path), tuple | None)
