"""Claude Code: hooks in `settings.json`, which Cursor runs too.

`Stop` ends each turn and is the checkpoint. `SessionEnd` handlers share 1.5 s, which a `timeout` in a settings file
raises; a plugin's does not, so this is no plugin. What `SessionStart` and `UserPromptSubmit` answer enters the context. (code.claude.com/docs: hooks, memory, skills, mcp)
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

NAME = "claude-code"


def setup(ground: Ground) -> HarnessSetup:
    settings = f"{ground.claude}/settings.json"
    hooks = (
        *grouped_hooks(ground, NAME, {"Stop": 10, "SessionEnd": 10, "PreCompact": 10}),
        *grouped_hooks(ground, NAME, {"SessionStart": 10, "UserPromptSubmit": 10}, act="inject"),
    )
    server = {"type": "stdio", "command": ground.program, "args": ["mcp"], "env": dict[str, str]()}
    payload = {
        "session_id": SESSION,
        "transcript_path": f"{ground.claude}/projects/-setup/{SESSION}.jsonl",
        "cwd": DIRECTORY,
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
    }
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, settings, "jsonc", hooks),
            Wanted(
                Part.MCP, ground.claude_state, "jsonc", (Member(("mcpServers", SERVER_NAME), server, ground.program),)
            ),
            *skill_file(ground, f"{ground.claude}/skills/{SERVER_NAME}/SKILL.md"),
        ),
        target=f"{ground.claude}/CLAUDE.md",
        plays=(Play(ground.hook(NAME), payload), start_play(ground, NAME)),
        switches=(
            Switch(
                settings,
                "jsonc",
                ("disableAllHooks",),
                True,
                f"{settings} sets disableAllHooks, so Claude Code runs no hook",
            ),
        ),
    )
