"""opencode: a plugin; `session.idle` is the end of a turn, of child sessions too, which name their parent.

It reads `~/.claude/CLAUDE.md` where it has no `AGENTS.md` of its own: to make one would hide the person's from it, so then
the section goes into `CLAUDE.md`. (opencode.ai/docs: plugins, rules, skills, mcp-servers)
"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.plugin_calls import plugin_head, plugin_play
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, HarnessSetup, Member, Part, Wanted, Whole

NAME = "opencode"

_PLUGIN = """
export const AgentMemory = async ({ client, directory }: any) => ({
  event: async ({ event }: any) => {
    if (event?.type !== "session.idle") return
    const id = event.properties?.sessionID
    if (typeof id !== "string") return
    const session = await client?.session?.get({ path: { id } }).catch(() => undefined)
    capture({ type: event.type, properties: { sessionID: id }, parentID: session?.data?.parentID, directory })
  },
})
"""


def setup(ground: Ground) -> HarnessSetup:
    directory = f"{ground.config}/opencode"
    config = ground.either(f"{directory}/opencode.json", f"{directory}/opencode.jsonc")
    server = {"type": "local", "command": [ground.program, "mcp"], "enabled": True}
    payload = {"type": "session.idle", "properties": {"sessionID": f"ses_{SESSION}"}, "directory": DIRECTORY}
    plugin = plugin_head(ground, NAME) + _PLUGIN
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{directory}/plugins/{SERVER_NAME}.ts", "whole", (Whole(plugin),)),
            Wanted(Part.MCP, config, "jsonc", (Member(("mcp", SERVER_NAME), server, ground.program),)),
            *skill_file(ground, f"{directory}/skills/{SERVER_NAME}/SKILL.md"),
        ),
        target=ground.either(f"{directory}/AGENTS.md", f"{ground.claude}/CLAUDE.md"),
        plays=(plugin_play(ground, NAME, payload),),
        notes=("opencode loads a new plugin when it starts.",),
    )
