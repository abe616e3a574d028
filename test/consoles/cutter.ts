import { connect, createServer, type Socket } from "node:net"

/** The point where a connection breaks during a change. Bytes are counted from the start of the request or response. */
export type Cut =
  /** The connection is accepted, and closed before any byte is read. */
  | { at: "accept" }
  /** Only this many bytes reach the platform. */
  | { at: "request"; bytes: number }
  /** The platform receives the whole request, but its response is lost. */
  | { at: "applied" }
  /** Only this many bytes of the response arrive. */
  | { at: "answer"; bytes: number }
  /** The connection stays open without a response: the platform receives the whole request or nothing. */
  | { at: "held"; applied: boolean }

export interface Cutter {
  url: string
  /** Cuts the nth change from now on (0 is the next one), and lets read requests through. Null cuts nothing. */
  cut(cut: Cut | null, nth?: number): void
  /** The changes so far, for example "PATCH /v1/…". */
  changes: string[]
  /** Accepts no further connections. Open connections continue. */
  close(): void
  stop(): void
}

/** A proxy in front of a test server that cuts connections on demand. */
export function cutterBefore(url: string): Cutter {
  const to = new URL(url)
  let pendingCut: Cut | null = null
  let remaining = 0
  const changes: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on("error", () => {})
    client.once("data", (head: Buffer) => {
      const line = head.toString("latin1").split(" HTTP/")[0] as string
      const isChange = /^(POST|PUT|PATCH|DELETE) /.test(line) && !/\/query$|\/token$/.test(line)
      if (isChange) changes.push(line)
      const current = isChange && pendingCut && remaining-- === 0 ? pendingCut : null
      if (current) pendingCut = null
      if (current?.at === "accept") return client.destroy()
      pass(client, head, current)
    })
  })
  const pass = (client: Socket, head: Buffer, current: Cut | null) => {
    if (current?.at === "held" && !current.applied) return
    const upstream = connect({ host: to.hostname, port: Number(to.port) })
    sockets.add(upstream)
    upstream.on("error", () => client.destroy())
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    let sent = 0
    const forward = (bytes: Buffer) => {
      const max = current?.at === "request" ? current.bytes - sent : Number.POSITIVE_INFINITY
      sent += bytes.length
      upstream.write(bytes.subarray(0, Math.max(0, max)))
      if (current?.at === "request" && sent >= current.bytes) setTimeout(end, 20)
    }
    forward(head)
    client.on("data", forward)
    client.on("close", () => upstream.destroy())
    let returned = 0
    upstream.on("data", (bytes: Buffer) => {
      if (current?.at === "applied") return end()
      if (current?.at === "held") return
      const max = current?.at === "answer" ? current.bytes - returned : Number.POSITIVE_INFINITY
      returned += bytes.length
      client.write(bytes.subarray(0, Math.max(0, max)))
      if (current?.at === "answer" && returned >= current.bytes) client.end()
    })
    upstream.on("close", () => client.end())
  }
  server.listen(0, "127.0.0.1")
  return {
    get url() {
      return `http://127.0.0.1:${(server.address() as { port: number }).port}`
    },
    changes,
    cut(next, nth = 0) {
      ;[pendingCut, remaining] = [next, nth]
    },
    close() {
      server.close()
    },
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
