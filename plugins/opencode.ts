
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
      const [first, ...others] = [...(before ?? []), ...said.filter(Boolean)] // the first is that of the start
      contexts.set(id, first ? [first, ...others.slice(1 - MOST_CONTEXTS)] : [])
    },
    "experimental.chat.system.transform": async (input: any, output: any) => {
      output?.system?.push(...(contexts.get(input?.sessionID) ?? []))
    },
  }
}
