"""Codex: `hooks.json` beside `config.toml`. Only `Stop`: it fires at each turn's end, and every version with hooks has it.

Codex skips a hook that was not reviewed in `/hooks`, without a word, and pins the command by its hash.
(developers.openai.com/codex: hooks, guides/agents-md, mcp, skills)
"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.hook_groups import grouped_hooks
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
            Wanted(Part.HOOKS, f"{ground.codex}/hooks.json", "jsonc", grouped_hooks(ground, NAME, {"Stop": 5})),
            Wanted(Part.MCP, config, "toml", (Member(("mcp_servers", SERVER_NAME), server, ground.program),)),
            *skill_file(ground, ground.shared_skill),
        ),
        target=ground.either(f"{ground.codex}/AGENTS.md", f"{ground.codex}/AGENTS.override.md"),
        plays=(Play(ground.hook(NAME), payload),),
        switches=(
            Switch(config, "toml", ("features", "hooks"), False, off),
            Switch(config, "toml", ("features", "codex_hooks"), False, off),
        ),
        notes=("Codex runs a new hook only once you have approved it: start `codex`, type `/hooks`, and approve it.",),
    )
