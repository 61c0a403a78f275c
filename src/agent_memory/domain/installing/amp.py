"""Amp: a plugin (TypeScript, run by Bun), since Amp has no shell hooks. `agent.end` comes after each turn.

(ampcode.com/manual: plugins, AGENTS.md, skills, MCP)
"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.plugin_calls import plugin_head, plugin_play
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, HarnessSetup, Member, Part, Wanted, Whole

NAME = "amp"

_PLUGIN = """
const started = new Set()

export default function (amp: any): void {
  amp.on("agent.start", async (event: any, context: any) => {
    const id = event?.thread?.id ?? context?.thread?.id
    if (typeof id !== "string") return
    const session = { thread: { id }, cwd: process.cwd() }
    const said = started.has(id) ? [] : [await inject({ event: "session.start", ...session })]
    started.add(id)
    said.push(await inject({ event: "agent.start", prompt: textOf(event?.message), ...session }))
    const content = said.filter(Boolean).join("\\n\\n")
    if (content) return { message: { content, display: false } }
  })
  amp.on("agent.end", async (event: any, context: any) => {
    const id = event?.thread?.id ?? context?.thread?.id
    if (typeof id !== "string") return
    capture({ event: "agent.end", thread: { id }, status: event?.status, cwd: process.cwd() })
  })
}
"""


def setup(ground: Ground) -> HarnessSetup:
    directory = f"{ground.home}/.config/amp"
    settings = ground.either(f"{directory}/settings.json", f"{directory}/settings.jsonc")
    server = {"command": ground.program, "args": ["mcp"]}
    plugin = plugin_head(ground, NAME) + _PLUGIN
    payload = {"event": "agent.end", "thread": {"id": f"T-{SESSION}"}, "status": "done", "cwd": DIRECTORY}
    started = {"event": "session.start", "thread": {"id": f"T-{SESSION}"}, "cwd": DIRECTORY}
    skill = f"{ground.home}/.config/agents/skills/{SERVER_NAME}/SKILL.md"
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{directory}/plugins/{SERVER_NAME}.ts", "whole", (Whole(plugin),)),
            Wanted(Part.MCP, settings, "jsonc", (Member(("amp.mcpServers", SERVER_NAME), server, ground.program),)),
            *skill_file(ground, skill),
        ),
        target=f"{directory}/AGENTS.md",
        plays=(plugin_play(ground, NAME, payload), plugin_play(ground, NAME, started, "inject")),
        notes=("Amp loads a new plugin when it starts, or with `amp plugins reload`.",),
    )
