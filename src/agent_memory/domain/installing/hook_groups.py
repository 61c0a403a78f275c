"""Hooks in the shape that Claude Code has made common: `{"hooks": {"Stop": [{"hooks": [{"type": "command", …}]}]}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.domain.installing.ground import Act, Ground, hook_mark
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, Element, Play


def grouped_hooks(
    ground: Ground,
    harness: str,
    timeouts: Mapping[str, int],
    matcher: str | None = None,
    name: str | None = None,
    act: Act = "capture",
) -> tuple[Element, ...]:
    """One group for each event; timeouts are in the harness's own unit."""
    command = ground.hook(harness, act)

    def group(timeout: int) -> dict[str, Any]:
        handler = {"type": "command", **({"name": name} if name else {}), "command": command, "timeout": timeout}
        return {**({} if matcher is None else {"matcher": matcher}), "hooks": [handler]}

    return tuple(
        Element(("hooks", event), group(timeout), command, hook_mark(harness, act))
        for event, timeout in timeouts.items()
    )


def start_play(ground: Ground, harness: str) -> Play:
    """The start of a session, told as those do that have such hooks."""
    payload = {
        "session_id": SESSION,
        "cwd": DIRECTORY,
        "hook_event_name": "SessionStart",
        "source": "startup",
        "transcript_path": f"{DIRECTORY}/{SESSION}.jsonl",
    }
    return Play(ground.hook(harness, "inject"), payload, "inject")
