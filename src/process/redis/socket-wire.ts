import { connect as connectPlain, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { RedisWire } from "../../access/limits/redis-wire.ts"
import { encode, parse } from "./resp.ts"

/** RESP2 over a socket, for runtimes without a Redis client. It connects as bun-wire.ts does. */
export function socketRedisWire(url: string, silenceMs = 5_000): RedisWire {
  let retry: NodeJS.Timeout | undefined
  let closed = false
  let problem = "it was not reached yet"
  let connection = open()

  function open(): Connection {
    return openConnection(new URL(url), (why) => {
      problem = why
      if (!closed) retry = setTimeout(replace, RETRY_MS)
    })
  }

  function replace() {
    connection = open()
  }

  return {
    async send(command, args) {
      if (connection.silentMs() > silenceMs) connection.end("it fell silent")
      if (!connection.isReady()) throw new Error(`no connection to Redis: ${problem}`)
      return await connection.send([command, ...args])
    },
    close() {
      closed = true
      clearTimeout(retry)
      connection.end("it was closed")
    },
  }
}

const RETRY_MS = 250
const CONNECT_MS = 500

interface Connection {
  isReady(): boolean
  send(words: string[]): Promise<unknown>
  /** How long the server has said nothing to commands that wait. */
  silentMs(): number
  end(why: string): void
}

interface PendingReply {
  resolve(reply: unknown): void
  reject(error: Error): void
}

/** `onEnd` is called once, when the connection broke, could not be made or was ended. */
function openConnection(url: URL, onEnd: (why: string) => void): Connection {
  const waiting: PendingReply[] = []
  let ready = false
  let ended = false
  let heardAt = 0
  let unread = Buffer.alloc(0)
  const socket = socketTo(url, () => void greet())
  const late = setTimeout(() => end("it does not answer"), CONNECT_MS)
  socket.on("error", ({ message }) => end(message))
  socket.on("close", () => end("it was closed by the server"))
  socket.on("data", (bytes: Buffer) => {
    heardAt = performance.now()
    unread = Buffer.concat([unread, bytes])
    for (let reply = parse(unread, 0); reply && !ended; reply = parse(unread, 0)) {
      unread = unread.subarray(reply.next)
      const { resolve, reject } = waiting.shift() ?? { resolve() {}, reject() {} }
      if (reply.value instanceof Error) reject(reply.value)
      else resolve(reply.value)
    }
  })

  async function greet() {
    try {
      await Promise.all(greeting(url).map(send))
      ready = !ended
      clearTimeout(late)
    } catch (error) {
      end((error as Error).message)
    }
  }

  function send(words: string[]): Promise<unknown> {
    if (waiting.length === 0) heardAt = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers()
    waiting.push({ resolve, reject })
    socket.write(encode(words))
    return promise
  }

  function end(why: string) {
    if (ended) return
    ended = true
    ready = false
    clearTimeout(late)
    socket.destroy()
    for (const { reject } of waiting.splice(0)) reject(new Error(`the connection to Redis ended: ${why}`))
    onEnd(why)
  }

  const silentMs = () => (waiting.length > 0 ? performance.now() - heardAt : 0)
  return { isReady: () => ready, send, silentMs, end }
}

function socketTo(url: URL, onConnect: () => void): Socket {
  const at = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 6379) }
  return url.protocol === "rediss:"
    ? connectTls({ ...at, servername: at.host }, onConnect)
    : connectPlain({ ...at, noDelay: true }, onConnect)
}

/** Who we are, and the database: what the address says besides the host. */
function greeting({ username, password, pathname }: URL): string[][] {
  // a name without a password logs nobody in: Bun's client sends nothing either
  const login = password === "" ? [] : [username, password].filter((word) => word !== "").map(decodeURIComponent)
  const database = pathname.slice(1)
  return [
    ...(login.length > 0 ? [["AUTH", ...login]] : []),
    ...(database !== "" ? [["SELECT", database]] : []),
    ["PING"],
  ]
}
