"""Codex: `hooks.json` beside `config.toml`. `Stop` fires at each turn's end, and every version with hooks has it; what
`SessionStart` and `UserPromptSubmit` answer becomes developer context.

Codex skips a hook that was not reviewed in `/hooks`, without a word, and pins the command by its hash.
(developers.openai.com/codex: hooks, guides/agents-md, mcp, skills)
"""

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

NAME = "codex"


def setup(ground: Ground) -> HarnessSetup:
    config = f"{ground.codex}/config.toml"
    hooks = (
        *grouped_hooks(ground, NAME, {"Stop": 5}),
        *grouped_hooks(ground, NAME, {"SessionStart": 10, "UserPromptSubmit": 10}, act="inject"),
    )
    server = {"command": ground.program, "args": ["mcp"]}
    payload = {
        "session_id": SESSION,
        "transcript_path": None,
        "cwd": DIRECTORY,
        "hook_event_name": "Stop",
        "turn_id": "1",
        "stop_hook_active": False,
    }
    off = f"{config} switches hooks off ([features] hooks = false), so Codex runs none"
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{ground.codex}/hooks.json", "jsonc", hooks),
            Wanted(Part.MCP, config, "toml", (Member(("mcp_servers", SERVER_NAME), server, ground.program),)),
            *skill_file(ground, ground.shared_skill),
        ),
        target=ground.either(f"{ground.codex}/AGENTS.md", f"{ground.codex}/AGENTS.override.md"),
        plays=(Play(ground.hook(NAME), payload), start_play(ground, NAME)),
        switches=(
            Switch(config, "toml", ("features", "hooks"), False, off),
            Switch(config, "toml", ("features", "codex_hooks"), False, off),
        ),
        notes=(
            "Codex runs a new hook only once you have approved it: start `codex`, type `/hooks`, and approve the three of memory.",
        ),
    )
