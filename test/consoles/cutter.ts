import { connect, createServer, type Socket } from "node:net"

/** Where a connection breaks during a change. Bytes are counted from the start of the request or response. */
export type Cut =
  /** Accepted, and closed before any byte is read. */
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
  /** Cuts the nth change from now on (0 is the next one); read requests pass. Null cuts nothing. */
  cut(cut: Cut | null, nth?: number): void
  /** The changes so far, for example "PATCH /v1/…". */
  changes: string[]
  /** Accepts no further connections; open ones continue. */
  close(): void
  stop(): void
}

/** A proxy in front of a test server that cuts connections on demand. */
export function cutterBefore(url: string): Cutter {
  const to = new URL(url)
  let cut: Cut | null = null
  let left = 0
  const changes: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on("error", () => {})
    client.once("data", (head: Buffer) => {
      const line = head.toString("latin1").split(" HTTP/")[0] as string
      const isChange = /^(POST|PUT|PATCH|DELETE) /.test(line) && !/\/query$|\/token$/.test(line)
      if (isChange) changes.push(line)
      const here = isChange && cut && left-- === 0 ? cut : null
      if (here) cut = null
      if (here?.at === "accept") return client.destroy()
      pass(client, head, here)
    })
  })
  const pass = (client: Socket, head: Buffer, here: Cut | null) => {
    if (here?.at === "held" && !here.applied) return
    const there = connect({ host: to.hostname, port: Number(to.port) })
    sockets.add(there)
    there.on("error", () => client.destroy())
    const end = () => {
      client.destroy()
      there.destroy()
    }
    let sent = 0
    const forward = (bytes: Buffer) => {
      const most = here?.at === "request" ? here.bytes - sent : Number.POSITIVE_INFINITY
      sent += bytes.length
      there.write(bytes.subarray(0, Math.max(0, most)))
      if (here?.at === "request" && sent >= here.bytes) setTimeout(end, 20)
    }
    forward(head)
    client.on("data", forward)
    client.on("close", () => there.destroy())
    let back = 0
    there.on("data", (bytes: Buffer) => {
      if (here?.at === "applied") return end()
      if (here?.at === "held") return
      const most = here?.at === "answer" ? here.bytes - back : Number.POSITIVE_INFINITY
      back += bytes.length
      client.write(bytes.subarray(0, Math.max(0, most)))
      if (here?.at === "answer" && back >= here.bytes) client.end()
    })
    there.on("close", () => client.end())
  }
  server.listen(0, "127.0.0.1")
  return {
    get url() {
      return `http://127.0.0.1:${(server.address() as { port: number }).port}`
    },
    changes,
    cut(next, nth = 0) {
      ;[cut, left] = [next, nth]
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
