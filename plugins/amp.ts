
const started = new Set()

export default function (amp: any): void {
  amp.on("agent.start", async (event: any, context: any) => {
    const id = event?.thread?.id ?? context?.thread?.id
    if (typeof id !== "string") return
    const session = { thread: { id }, cwd: process.cwd() }
    const said = started.has(id) ? [] : [await inject({ event: "session.start", ...session })]
    started.add(id)
    said.push(await inject({ event: "agent.start", prompt: textOf(event?.message), ...session }))
    const content = said.filter(Boolean).join("\n\n")
    if (content) return { message: { content, display: false } }
  })
  amp.on("agent.end", async (event: any, context: any) => {
    const id = event?.thread?.id ?? context?.thread?.id
    if (typeof id !== "string") return
    capture({ event: "agent.end", thread: { id }, status: event?.status, cwd: process.cwd() })
  })
}
