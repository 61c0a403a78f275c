"""GitHub Copilot CLI: a hooks file of our own below `~/.copilot/hooks/`. (docs.github.com: copilot-cli, hooks reference)"""

from __future__ import annotations

import json

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import (
    DIRECTORY,
    SESSION,
    HarnessSetup,
    Member,
    Part,
    Play,
    Switch,
    Wanted,
    Whole,
)

NAME = "copilot"
EVENTS = ("agentStop", "sessionEnd")
START = "sessionStart"
"""Its answer is put into the session by newer versions; older ones pass it over."""


def setup(ground: Ground) -> HarnessSetup:
    command = ground.hook(NAME)
    injects = ground.hook(NAME, "inject")
    handlers = {event: [_handler(command)] for event in EVENTS} | {START: [_handler(injects)]}
    hooks = json.dumps({"version": 1, "hooks": handlers}, indent=2, ensure_ascii=False)
    started = {"sessionId": SESSION, "timestamp": 1_767_225_600_000, "cwd": DIRECTORY, "source": "startup"}
    server = {"type": "local", "command": ground.program, "args": ["mcp"], "tools": ["*"]}
    settings = f"{ground.copilot}/settings.json"
    payload = {
        "sessionId": SESSION,
        "timestamp": 1_767_225_600_000,
        "cwd": DIRECTORY,
        "transcriptPath": f"{ground.copilot}/session-state/{SESSION}/events.jsonl",
        "stopReason": "end_turn",
    }
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{ground.copilot}/hooks/{SERVER_NAME}.json", "whole", (Whole(f"{hooks}\n"),)),
            Wanted(
                Part.MCP,
                f"{ground.copilot}/mcp-config.json",
                "jsonc",
                (Member(("mcpServers", SERVER_NAME), server, ground.program),),
            ),
            *skill_file(ground, f"{ground.copilot}/skills/{SERVER_NAME}/SKILL.md"),
        ),
        target=f"{ground.copilot}/copilot-instructions.md",
        plays=(Play(command, payload), Play(injects, started, "inject")),
        switches=(
            Switch(
                settings,
                "jsonc",
                ("disableAllHooks",),
                True,
                f"{settings} sets disableAllHooks, so Copilot runs no hook",
            ),
        ),
    )


def _handler(command: str) -> dict[str, str | int]:
    return {"type": "command", "bash": command, "timeoutSec": 10}
