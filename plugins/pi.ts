
export default function (pi: any): void {
  const tell = (type: string) => async (_event: any, context: any) => {
    const file = context?.sessionManager?.getSessionFile?.()
    const id = context?.sessionManager?.getSessionId?.() ?? /_([0-9a-fA-F-]{36})\.jsonl$/.exec(file ?? "")?.[1]
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
    const content = said.filter(Boolean).join("\n\n")
    if (content) return { message: { customType: "agent-memory", content, display: false } }
  })
  pi.on("session_compact", async (_event: any, context: any) => {
    const id = context?.sessionManager?.getSessionId?.()
    if (started.delete(id)) compacted.add(id)
  })
  pi.on("agent_end", tell("agent_end"))
  pi.on("session_shutdown", tell("session_shutdown"))
}
