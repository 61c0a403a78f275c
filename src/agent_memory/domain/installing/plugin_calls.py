"""How a plugin in TypeScript calls memory: detached, so that the harness never waits, and silent whatever happens."""

from __future__ import annotations

import json
import shlex

from agent_memory.domain.installing.ground import Ground
from agent_memory.domain.installing.wanted import SESSION, Play

HEADER = (
    "// Written by `memory setup`; `memory uninstall` removes it. It tells agent-memory that a session has new turns.\n"
)

CAPTURE = """\
import { spawn } from "node:child_process"

const PROGRAM = %(program)s

function capture(words: string[], cwd?: string): void {
  try {
    const child = spawn(PROGRAM, ["capture", ...words], { cwd, detached: true, stdio: "ignore" })
    child.on("error", () => {})
    child.unref()
  } catch {
    // An agent's turn must never fail because of us; `memory status` shows when nothing was captured.
  }
}
"""


def plugin_head(ground: Ground) -> str:
    """The beginning of a plugin: the function `capture(words, cwd)`."""
    return HEADER + CAPTURE % {"program": json.dumps(ground.program, ensure_ascii=False)}


def plugin_play(ground: Ground, harness: str, *further: str) -> Play:
    """The call that the plugin makes."""
    words = (ground.program, "capture", "--harness", harness, "--thread-id", SESSION, *further)
    return Play(shlex.join(words))
