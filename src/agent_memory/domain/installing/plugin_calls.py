"""How a plugin in TypeScript calls memory: as a hook would, and silent whatever happens. To capture it does not wait; what is
to be injected it waits for some seconds at most."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_memory.domain.installing.ground import Act, Ground
from agent_memory.domain.installing.wanted import Play

HEADER = (
    "// Written by `memory setup`; `memory uninstall` removes it. It tells agent-memory that a session has new turns, and\n"
    "// puts notes of earlier sessions into a new one.\n"
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

INJECT = """\

const LIMIT_MS = 5000

function inject(payload: object): Promise<string> {
  return new Promise((resolve) => {
    try {
      const words = ["inject", "--harness", "%(harness)s", "--hook"]
      const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "ignore"] })
      let said = ""
      const late = setTimeout(() => child.kill(), LIMIT_MS)
      child.on("error", () => resolve(""))
      child.on("close", () => {
        clearTimeout(late)
        resolve(contextIn(said))
      })
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part: string) => (said += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })
}

function contextIn(said: string): string {
  try {
    return JSON.parse(said).additionalContext ?? ""
  } catch {
    return ""
  }
}

function textOf(content: any): string {
  if (typeof content === "string") return content
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\\n")
  return typeof content?.text === "string" ? content.text : content?.content ? textOf(content.content) : ""
}
"""


def plugin_head(ground: Ground, harness: str) -> str:
    """The beginning of a plugin: the functions `capture(payload)`, `inject(payload)` and `textOf(content)`."""
    names = {"program": json.dumps(ground.program, ensure_ascii=False), "harness": harness}
    return HEADER + (CAPTURE + INJECT) % names


def plugin_play(ground: Ground, harness: str, payload: Mapping[str, Any], act: Act = "capture") -> Play:
    """The call that the plugin makes."""
    return Play(ground.hook(harness, act), payload, act)
