import { createServer as createSafeServer } from "node:https"
import { createServer, type Server, type Socket } from "node:net"
import type { OutboundProblem } from "../../src/outbound/problem.ts"
import { type OutboundAnswer, type OutboundOptions, safeFetch } from "../../src/outbound/safe-fetch.ts"
import { AUTHORITY, CERTIFICATE, KEY } from "./certificates.ts"

export interface Site {
  port: number
  /** Heads of the received requests, each up to its empty line. */
  requests: string[]
  /** Number of connections. */
  hits: number
  [Symbol.asyncDispose](): Promise<void>
}

type Answering = (head: string, socket: Socket) => void

/** Starts a server that responds with these bytes, or as `answer` writes, once it has received a request's head. */
export async function site(answer: string | Answering, { host = "127.0.0.1", port = 0 } = {}): Promise<Site> {
  const respond: Answering = typeof answer === "string" ? (_, socket) => void socket.end(answer, "latin1") : answer
  const server = createServer()
  const opened = await listening(server, host, port)
  server.on("connection", (socket) => {
    opened.hits++
    hear(socket, opened, respond)
  })
  return opened
}

/** Starts a TLS server with the tests' certificate that responds as `answer` writes. */
export async function safeSite(
  answer: (url: string, socket: Socket, host: string) => void,
): Promise<Site & { names: string[] }> {
  const server = createSafeServer({ key: KEY, cert: CERTIFICATE })
  const opened = Object.assign(await listening(server, "127.0.0.1", 0), { names: [] as string[] })
  server.on("secureConnection", (socket) => {
    opened.hits++
    opened.names.push(String(socket.servername))
  })
  server.on("request", (request, response) => {
    opened.requests.push(`${request.method} ${request.url} ${request.headers.host}`)
    answer(String(request.url), response.socket as Socket, String(request.headers.host))
  })
  return opened
}

function hear(socket: Socket, opened: Site, answer: Answering): void {
  let received = ""
  socket.on("error", () => {})
  socket.on("data", (bytes) => {
    if (received.includes("\r\n\r\n")) return
    received += bytes.toString("latin1")
    if (!received.includes("\r\n\r\n")) return
    opened.requests.push(received)
    answer(received, socket)
  })
}

async function listening(server: Server, host: string, port: number): Promise<Site> {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as { port: number }
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  return { port: address.port, requests: [], hits: 0, [Symbol.asyncDispose]: close }
}

/** Returns a response with these headers and this body. */
export function page(body: string, headers: Record<string, string | number> = {}, status = 200): string {
  const all = { "content-length": body.length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Said\r\n${lines.join("")}\r\n${body}`
}

/** Writes the same bytes repeatedly, as fast as they are read. */
export function flood(socket: Socket, head: string, bytes: string): void {
  socket.write(head, "latin1")
  const more = () => {
    for (let writes = 0; writes < 20 && !socket.destroyed; writes++) if (!socket.write(bytes, "latin1")) return
    if (!socket.destroyed) setImmediate(more)
  }
  socket.on("drain", more)
  more()
}

/**
 * Sends a request to a site on this machine. The address is allowed, and every name resolves to it. `port` may be any
 * port.
 */
export function ask(url: string, port: number, options: OutboundOptions = {}): Promise<OutboundAnswer> {
  return safeFetch(url, {
    ports: [port],
    resolve: async () => ["127.0.0.1"],
    allowPrivate: HERE,
    ca: AUTHORITY,
    ...options,
  })
}

export const HERE = { includes: (address: string) => address === "127.0.0.1" }

export const text = ({ bytes }: OutboundAnswer) => new TextDecoder().decode(bytes)

/** Returns the code of the problem, or the answer if there is none. */
export function codeOf(request: Promise<unknown>): Promise<unknown> {
  return request.catch((problem: OutboundProblem) => problem.code ?? problem)
}
