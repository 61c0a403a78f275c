"""Cursor: `~/.cursor/hooks.json`. `stop` in the editor and the terminal, `sessionEnd` for `cursor-agent -p`.

One unknown event name voids the whole file, so there are only these two, and `sessionStart`, which is as old as `sessionEnd`. It has no instruction file of the person's own.
(cursor.com/docs: hooks, mcp, skills)
"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground, hook_mark
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import (
    DIRECTORY,
    SESSION,
    Element,
    HarnessSetup,
    Member,
    Part,
    Play,
    Wanted,
)

NAME = "cursor"
EVENTS = ("stop", "sessionEnd")
START = "sessionStart"
"""Its answer is put into the conversation; that of `beforeSubmitPrompt` is not."""


def setup(ground: Ground) -> HarnessSetup:
    directory = f"{ground.home}/.cursor"
    command = ground.hook(NAME)
    injects = ground.hook(NAME, "inject")
    handlers = (
        *(Element(("hooks", event), {"command": command, "timeout": 10}, command, hook_mark(NAME)) for event in EVENTS),
        Element(("hooks", START), {"command": injects, "timeout": 10}, injects, hook_mark(NAME, "inject")),
    )
    started = {
        "conversation_id": SESSION,
        "generation_id": SESSION,
        "hook_event_name": START,
        "cursor_version": "0.0.0",
        "workspace_roots": [DIRECTORY],
        "transcript_path": None,
    }
    server = {"command": ground.program, "args": ["mcp"]}
    payload = {
        "conversation_id": SESSION,
        "generation_id": SESSION,
        "hook_event_name": "stop",
        "cursor_version": "0.0.0",
        "workspace_roots": [DIRECTORY],
        "transcript_path": None,
        "status": "completed",
    }
    return HarnessSetup(
        files=(
            Wanted(
                Part.HOOKS,
                f"{directory}/hooks.json",
                "jsonc",
                (Member(("version",), 1, optional=True, stays=True), *handlers),
            ),
            Wanted(
                Part.MCP,
                f"{directory}/mcp.json",
                "jsonc",
                (Member(("mcpServers", SERVER_NAME), server, ground.program),),
            ),
            *skill_file(ground, ground.shared_skill),
        ),
        plays=(Play(command, payload), Play(injects, started, "inject")),
        notes=(
            "Cursor reads no instruction file of your own outside a repository: there use `memory setup cursor --repo`.",
        ),
    )
