"""VS Code, whose agent runs no hooks of ours: the server in the person's own `mcp.json`, and the skill that it shares with others.

Only at its name, and not whenever the editor is there: who has the editor need not use its agent.
(code.visualstudio.com/docs: MCP configuration reference, agent skills, AGENTS.md)
"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import HarnessSetup, Member, Part, Wanted

NAME = "vscode"

_NOTE = (
    "VS Code calls no hook of memory: with `memory setup vscode --mcp` its agent can look things up and write them down. In a "
    "repository it reads AGENTS.md: `memory setup vscode --repo`."
)


def setup(ground: Ground) -> HarnessSetup:
    directory = ground.either(*profiles_of(ground))
    server = {"type": "stdio", "command": ground.program, "args": ["mcp"]}
    return HarnessSetup(
        files=(
            Wanted(
                Part.MCP,
                f"{directory}/mcp.json",
                "jsonc",
                (Member(("servers", SERVER_NAME), server, ground.program),),
            ),
            *skill_file(ground, ground.shared_skill),
        ),
        notes=(_NOTE,),
    )


def profiles_of(ground: Ground) -> tuple[str, str]:
    """Where the editor keeps the person's settings: on Linux, on macOS."""
    return f"{ground.config}/Code/User", f"{ground.home}/Library/Application Support/Code/User"
