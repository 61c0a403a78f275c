// Written by `memory setup`; `memory uninstall` removes it. It tells agent-memory that a session has new turns, and
// puts notes of earlier sessions into a new one.
import { spawn } from "node:child_process"

const PROGRAM = @program@

function capture(payload: object): void {
  try {
    const words = ["capture", "--harness", "@harness@", "--hook"]
    const child = spawn(PROGRAM, words, { detached: true, stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
    child.unref()
  } catch {
    // An agent's turn must never fail because of us; `memory status` shows when nothing was captured.
  }
}

const LIMIT_MS = 5000

function inject(payload: object): Promise<string> {
  return new Promise((resolve) => {
    try {
      const words = ["inject", "--harness", "@harness@", "--hook"]
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
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\n")
  return typeof content?.text === "string" ? content.text : content?.content ? textOf(content.content) : ""
}
