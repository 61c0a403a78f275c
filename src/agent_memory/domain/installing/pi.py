"""Pi: an extension; `agent_end` is the end of a turn. It has no MCP of its own. (earendil-works/pi: docs/extensions, skills)"""

from __future__ import annotations

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.plugin_calls import plugin_head, plugin_play
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, HarnessSetup, Part, Wanted, Whole

NAME = "pi"

_EXTENSION = """
export default function (pi: any): void {
  const tell = (type: string) => async (_event: any, context: any) => {
    const file = context?.sessionManager?.getSessionFile?.()
    const id = context?.sessionManager?.getSessionId?.() ?? /_([0-9a-fA-F-]{36})\\.jsonl$/.exec(file ?? "")?.[1]
    if (!id || !file) return // a session that is not kept
    capture({ type, sessionId: id, sessionFile: file, cwd: context?.cwd })
  }
  const started = new Set()
  const compacted = new Set()
  pi.on("before_agent_start", async (event: any, context: any) => {
    const file = context?.sessionManager?.getSessionFile?.()
    const id = context?.sessionManager?.getSessionId?.()
    if (!id || !file) return
    const session = { sessionId: id, sessionFile: file, cwd: context?.cwd }
    const source = compacted.delete(id) ? "compact" : "startup"
    const said = started.has(id) ? [] : [await inject({ type: "session_start", source, ...session })]
    started.add(id)
    said.push(await inject({ type: "before_agent_start", prompt: textOf(event?.prompt), ...session }))
    const content = said.filter(Boolean).join("\\n\\n")
    if (content) return { message: { customType: "agent-memory", content, display: false } }
  })
  pi.on("session_compact", async (_event: any, context: any) => {
    const id = context?.sessionManager?.getSessionId?.()
    if (started.delete(id)) compacted.add(id)
  })
  pi.on("agent_end", tell("agent_end"))
  pi.on("session_shutdown", tell("session_shutdown"))
}
"""


def setup(ground: Ground) -> HarnessSetup:
    path = f"{ground.pi}/sessions/--setup--/2026-01-01T00-00-00-000Z_{SESSION}.jsonl"
    payload = {"type": "agent_end", "sessionId": SESSION, "sessionFile": path, "cwd": DIRECTORY}
    started = {**payload, "type": "session_start", "source": "startup"}
    extension = plugin_head(ground, NAME) + _EXTENSION
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{ground.pi}/extensions/{SERVER_NAME}.ts", "whole", (Whole(extension),)),
            *skill_file(ground, ground.shared_skill),
        ),
        target=f"{ground.pi}/AGENTS.md",
        plays=(plugin_play(ground, NAME, payload), plugin_play(ground, NAME, started, "inject")),
        notes=("Pi loads a new extension when it starts, or with `/reload`.",),
    )
