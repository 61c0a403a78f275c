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
  pi.on("agent_end", tell("agent_end"))
  pi.on("session_shutdown", tell("session_shutdown"))
}
"""


def setup(ground: Ground) -> HarnessSetup:
    path = f"{ground.pi}/sessions/--setup--/2026-01-01T00-00-00-000Z_{SESSION}.jsonl"
    payload = {"type": "agent_end", "sessionId": SESSION, "sessionFile": path, "cwd": DIRECTORY}
    extension = plugin_head(ground, NAME) + _EXTENSION
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{ground.pi}/extensions/{SERVER_NAME}.ts", "whole", (Whole(extension),)),
            *skill_file(ground, ground.shared_skill),
        ),
        target=f"{ground.pi}/AGENTS.md",
        plays=(plugin_play(ground, NAME, payload),),
        notes=("Pi loads a new extension when it starts, or with `/reload`.",),
    )
