"""Gemini CLI: hooks in `settings.json`, with timeouts in milliseconds. (google-gemini/gemini-cli: docs/hooks, docs/cli)"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.hook_groups import grouped_hooks, start_play
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
)

NAME = "gemini"


def setup(ground: Ground) -> HarnessSetup:
    directory = f"{ground.home}/.gemini"
    settings = f"{directory}/settings.json"
    injecting = {"SessionStart": 10_000, "BeforeAgent": 10_000, "PreCompress": 5_000}
    hooks = (
        *grouped_hooks(ground, NAME, {"AfterAgent": 5_000, "SessionEnd": 5_000}, matcher="*", name=SERVER_NAME),
        *grouped_hooks(ground, NAME, injecting, matcher="*", name=f"{SERVER_NAME}-inject", act="inject"),
    )
    server = {"command": ground.program, "args": ["mcp"]}
    payload = {
        "session_id": SESSION,
        "transcript_path": f"{directory}/tmp/setup/chats/{SESSION}.jsonl",
        "cwd": DIRECTORY,
        "hook_event_name": "AfterAgent",
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, settings, "jsonc", hooks),
            Wanted(Part.MCP, settings, "jsonc", (Member(("mcpServers", SERVER_NAME), server, ground.program),)),
            *skill_file(ground, ground.shared_skill),
        ),
        target=f"{directory}/GEMINI.md",
        plays=(Play(ground.hook(NAME), payload), start_play(ground, NAME)),
        switches=(
            Switch(
                settings,
                "jsonc",
                ("hooksConfig", "enabled"),
                False,
                f"{settings} switches hooks off (hooksConfig.enabled), so Gemini runs none",
            ),
        ),
    )
