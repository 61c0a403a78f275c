"""How a plugin in TypeScript calls memory: as a hook would, detached, so that the harness never waits, and silent whatever
happens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_memory.domain.installing.ground import Ground
from agent_memory.domain.installing.wanted import Play

HEADER = (
    "// Written by `memory setup`; `memory uninstall` removes it. It tells agent-memory that a session has new turns.\n"
)

CAPTURE = """\
import { spawn } from "node:child_process"

const PROGRAM = %(program)s

function capture(payload: object): void {
  try {
    const words = ["capture", "--harness", "%(harness)s", "--hook"]
    const child = spawn(PROGRAM, words, { detached: true, stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
    child.unref()
  } catch {
    // An agent's turn must never fail because of us; `memory status` shows when nothing was captured.
  }
}
"""


def plugin_head(ground: Ground, harness: str) -> str:
    """The beginning of a plugin: the function `capture(payload)`."""
    return HEADER + CAPTURE % {"program": json.dumps(ground.program, ensure_ascii=False), "harness": harness}


def plugin_play(ground: Ground, harness: str, payload: Mapping[str, Any]) -> Play:
    """The call that the plugin makes."""
    return Play(ground.hook(harness), payload)
