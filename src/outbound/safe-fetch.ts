import { Buffer } from "node:buffer"
import { type Head, readBody, readHead } from "./answer.ts"
import { connect } from "./connect.ts"
import { IncomingBytes } from "./incoming.ts"
import { CODINGS, wholeBody } from "./inflate.ts"
import { OutboundProblem } from "./problem.ts"
import { type AllowedNetworks, checkedAddresses, type Resolve, systemResolve } from "./resolve.ts"
import { type Target, targetOf } from "./target.ts"

type OutboundMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface OutboundOptions {
  method?: OutboundMethod
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Private networks of the operator that may be requested. Default: none. */
  allowPrivate?: AllowedNetworks
  ports?: readonly number[]
  /**
   * Whether to follow a redirect (`trail`: the URLs so far). If false, throws `bad_redirect`. Default: follows none.
   */
  mayFollow?: (to: URL, trail: readonly URL[]) => boolean
  /** Total time limit, including redirects. */
  totalMs?: number
  /** Time limit from the host look-up to the first byte of the response. */
  firstByteMs?: number
  /** Limit of the body size, both compressed and inflated. */
  mostBytes?: number
  resolve?: Resolve
  /** Trusted certificates that replace those of the platform, PEM. */
  ca?: string
  signal?: AbortSignal
}

export interface OutboundAnswer {
  url: string
  status: number
  headers: Headers
  /** The inflated body. Empty for a redirect, whose body is not read. */
  bytes: Uint8Array
}

export type SafeFetch = (url: string, options?: OutboundOptions) => Promise<OutboundAnswer>

const LIMITS = { totalMs: 10_000, firstByteMs: 5_000, mostBytes: 512_000 }
const MAX_REDIRECTS = 5

/**
 * Fetches URLs from untrusted input without reaching private networks. Each host is resolved once per request, and each
 * redirect is checked like the first URL. Any status is returned as an answer. Throws only OutboundProblem.
 */
export const safeFetch: SafeFetch = async (url, options = {}) => {
  const { signal } = options
  const ended = new AbortController()
  const stop = () => ended.abort(new OutboundProblem("stopped"))
  const timer = endAfter(ended, options.totalMs ?? LIMITS.totalMs)
  signal?.addEventListener("abort", stop)
  if (signal?.aborted) stop()
  try {
    return await follow(url, options, ended)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
  }
}

function endAfter(ended: AbortController, ms: number) {
  return setTimeout(() => ended.abort(new OutboundProblem("timeout")), ms)
}

async function follow(first: string, options: OutboundOptions, ended: AbortController): Promise<OutboundAnswer> {
  const { ports = [], mayFollow, method = "GET" } = options
  const trail: URL[] = []
  for (let target = targetOf(first, ports); ; ) {
    const answer = await exchange(target, options, ended)
    trail.push(target.url)
    const location = isRedirect(answer.status) ? answer.headers.get("location") : null
    if (location === null || method !== "GET" || !mayFollow) return answer
    const next = URL.parse(location, target.url)
    if (!next || trail.length > MAX_REDIRECTS || !mayFollow(next, trail)) throw new OutboundProblem("bad_redirect")
    target = targetOf(next, ports)
  }
}

async function exchange(target: Target, options: OutboundOptions, ended: AbortController): Promise<OutboundAnswer> {
  const { resolve = systemResolve, allowPrivate, ca, mostBytes = LIMITS.mostBytes } = options
  const { signal } = ended
  const request = requestOf(target, options)
  const firstByte = endAfter(ended, options.firstByteMs ?? LIMITS.firstByteMs)
  try {
    const addresses = await unless(signal, checkedAddresses(target.host, { resolve, allowPrivate }))
    const socket = await connect(target, addresses, { signal, ca })
    try {
      socket.write(request)
      const incoming = new IncomingBytes(socket, signal)
      await incoming.first()
      clearTimeout(firstByte)
      const head = await readHead(incoming)
      return { url: target.url.href, ...head, bytes: await bodyOf(head, incoming, mostBytes) }
    } catch (error) {
      throw error instanceof OutboundProblem ? new OutboundProblem(error.code, { isSent: true }) : error
    } finally {
      socket.destroy()
    }
  } finally {
    clearTimeout(firstByte)
  }
}

/** Rejects when the signal aborts before the work ends, because a look-up cannot be cancelled. */
async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener("abort", abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener("abort", abort)
  }
}

function requestOf({ url }: Target, { method = "GET", headers, body }: OutboundOptions): Uint8Array {
  const sent = new Headers({ "user-agent": "Appmeter", accept: "*/*", ...headers })
  sent.set("host", url.host)
  sent.set("connection", "close")
  sent.set("accept-encoding", CODINGS)
  const bytes = Buffer.from(body ?? "")
  if (body !== undefined) sent.set("content-length", String(bytes.length))
  // Safe from header injection: Headers refuses line ends in values, and a parsed URL has none.
  const lines = [...sent].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`), bytes])
}

async function bodyOf(head: Head, incoming: IncomingBytes, most: number): Promise<Uint8Array> {
  if (isRedirect(head.status)) return Buffer.alloc(0)
  return await wholeBody(readBody(head, incoming), head.headers.get("content-encoding"), most)
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}
