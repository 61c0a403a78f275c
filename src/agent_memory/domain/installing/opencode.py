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
const contexts = new Map()
const MOST_CONTEXTS = 8

export const AgentMemory = async ({ client, directory }: any) => {
  const parentOf = async (id: string) => {
    const session = await client?.session?.get({ path: { id } }).catch(() => undefined)
    return session?.data?.parentID
  }
  return {
    event: async ({ event }: any) => {
      if (event?.type !== "session.idle") return
      const id = event.properties?.sessionID
      if (typeof id !== "string") return
      capture({ type: event.type, properties: { sessionID: id }, parentID: await parentOf(id), directory })
    },
    "chat.message": async (input: any, output: any) => {
      const id = input?.sessionID
      if (typeof id !== "string") return
      const session = { properties: { sessionID: id }, parentID: await parentOf(id), directory }
      const before = contexts.get(id)
      // What an earlier process put into the system prompt is not kept with the session: it is as after a compaction.
      const said = before ? [] : [await inject({ type: "session.start", source: "compact", ...session })]
      said.push(await inject({ type: "chat.message", prompt: textOf(output?.parts), ...session }))
      contexts.set(id, [...(before ?? []), ...said.filter(Boolean)].slice(-MOST_CONTEXTS))
    },
    "experimental.chat.system.transform": async (input: any, output: any) => {
      output?.system?.push(...(contexts.get(input?.sessionID) ?? []))
    },
  }
}
"""


def setup(ground: Ground) -> HarnessSetup:
    directory = f"{ground.config}/opencode"
    config = ground.either(f"{directory}/opencode.json", f"{directory}/opencode.jsonc")
    server = {"type": "local", "command": [ground.program, "mcp"], "enabled": True}
    payload = {"type": "session.idle", "properties": {"sessionID": f"ses_{SESSION}"}, "directory": DIRECTORY}
    started = {**payload, "type": "session.start", "source": "compact"}
    plugin = plugin_head(ground, NAME) + _PLUGIN
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{directory}/plugins/{SERVER_NAME}.ts", "whole", (Whole(plugin),)),
            Wanted(Part.MCP, config, "jsonc", (Member(("mcp", SERVER_NAME), server, ground.program),)),
            *skill_file(ground, f"{directory}/skills/{SERVER_NAME}/SKILL.md"),
        ),
        target=ground.either(f"{directory}/AGENTS.md", f"{ground.claude}/CLAUDE.md"),
        plays=(plugin_play(ground, NAME, payload), plugin_play(ground, NAME, started, "inject")),
        notes=("opencode loads a new plugin when it starts.",),
    )
