import { connect, type Socket } from "node:net"

/** The response. The status is 0, with the reason, if the connection failed. No request is sent twice. */
export interface Balanced {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every operation
  body: any
  problem?: string
}

export interface Balancer {
  call(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Balanced>
  /** Connections opened so far. */
  opened(): number
  stop(): void
}

/**
 * Starts a load balancer that is as strict as one that only sees connections: a new connection goes to the next server
 * whose last /readyz response was 200, and stays there until the server closes it. A call takes the connection that was
 * idle the longest, to whichever server.
 */
export function balancer(urls: readonly string[], { everyMs = 100 } = {}): Balancer {
  const ready = new Map(urls.map((url) => [url, true]))
  const idle: Socket[] = []
  let turn = 0
  let opened = 0
  const probe = async (url: string) => {
    const answer = await fetch(`${url}/readyz`, { headers: { connection: "close" } }).catch(() => null)
    ready.set(url, answer?.status === 200)
  }
  const timer = setInterval(() => urls.map(probe), everyMs)

  const open = (): Promise<Socket> => {
    const choices = urls.filter((url) => ready.get(url))
    if (choices.length === 0) return Promise.reject(new Error("no server is ready"))
    const { hostname, port } = new URL(choices[turn++ % choices.length] as string)
    opened++
    return openSocket(Number(port), hostname, (socket) => {
      const at = idle.indexOf(socket)
      if (at >= 0) idle.splice(at, 1)
    })
  }
  return {
    async call(method, path, headers, body) {
      try {
        const socket = idle.shift() ?? (await open())
        const { stays, ...answer } = await exchange(socket, requestOf(method, path, headers, body))
        if (stays) idle.push(socket)
        else socket.end()
        return answer
      } catch (error) {
        return { status: 0, body: null, problem: (error as Error).message }
      }
    },
    opened: () => opened,
    stop() {
      clearInterval(timer)
      for (const socket of idle) socket.destroy()
    },
  }
}

function openSocket(port: number, host: string, onClose: (socket: Socket) => void): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ port, host, noDelay: true }, () => resolve(socket))
  socket.on("error", reject)
  socket.on("close", () => onClose(socket))
  return promise
}

function requestOf(method: string, path: string, headers: Record<string, string>, body?: object): string {
  const text = body ? JSON.stringify(body) : ""
  const all = {
    host: "127.0.0.1",
    ...headers,
    ...(body && { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`
}

/** Sends one request and reads its answer, which must have a content-length. */
function exchange(socket: Socket, request: string): Promise<Balanced & { stays: boolean }> {
  const { promise, resolve, reject } = Promise.withResolvers<Balanced & { stays: boolean }>()
  let bytes = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    const end = bytes.indexOf("\r\n\r\n")
    if (end < 0) return
    const head = bytes.toString("latin1", 0, end)
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
    if (!(bytes.length >= end + 4 + length)) return
    const body = JSON.parse(bytes.toString("utf8", end + 4, end + 4 + length))
    resolve({ status: Number(head.slice(9, 12)), body, stays: !/^connection: close/im.test(head) })
  }
  const onClose = () => reject(new Error(`the connection ended after ${bytes.length} bytes of the answer`))
  const onError = (error: Error) => reject(error)
  socket.on("data", onData).on("close", onClose).on("error", onError)
  socket.write(request)
  return promise.finally(() => socket.off("data", onData).off("close", onClose).off("error", onError))
}
