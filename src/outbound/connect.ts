import { connect as connectPlainly, isIP, type Socket } from "node:net"
import { connect as connectSafely } from "node:tls"
import { OutboundProblem } from "./problem.ts"
import type { Target } from "./target.ts"

interface ConnectOptions {
  signal: AbortSignal
  /** Trusted certificates that replace those of the platform, PEM. */
  ca: string | undefined
}

// A name usually has two or three addresses. If one does not answer, the next is tried, because a machine without IPv6
// cannot reach all of them.
const MAX_ADDRESSES = 3
const NEXT_AFTER_MS = 1_000
// Long enough to resend one lost packet. Together with the other attempts it stays below the limit of 5 s until the
// first byte.
const LAST_MS = 2_500

/**
 * Connects to exactly these addresses. node:http is not used, because it pools connections by name and uses the
 * environment's proxy under Deno. The certificate is checked against the name. Throws `unreachable`, `tls`, or the
 * signal's reason.
 */
export async function connect(
  { host, port, secure }: Target,
  addresses: readonly string[],
  options: ConnectOptions,
): Promise<Socket> {
  const plain = await connectToFirst(addresses.slice(0, MAX_ADDRESSES), port, options.signal)
  if (!secure) return plain
  const safe = connectSafely({
    socket: plain,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(options.ca !== undefined && { ca: options.ca }),
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
  })
  const socket = await opened(safe, "secureConnect", { signal: options.signal, failure: "tls" })
  if (socket.authorized) return socket
  socket.destroy()
  throw new OutboundProblem("tls")
}

async function connectToFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  for (const [at, host] of addresses.entries()) {
    const last = at === addresses.length - 1
    try {
      const waits = { signal, failure: "unreachable", waitMs: last ? LAST_MS : NEXT_AFTER_MS } as const
      return await opened(connectPlainly({ host, port }), "connect", waits)
    } catch (error) {
      if (last || signal.aborted) throw error
    }
  }
  throw new OutboundProblem("unreachable")
}

interface WaitOptions {
  signal: AbortSignal
  failure: "unreachable" | "tls"
  waitMs?: number
}

/** Returns the socket once it is open. Destroys it when it fails to open or the signal aborts. */
async function opened<S extends Socket>(
  socket: S,
  event: string,
  { signal, failure, waitMs }: WaitOptions,
): Promise<S> {
  const { promise, resolve, reject } = Promise.withResolvers<S>()
  const end = (why: unknown) => {
    socket.destroy()
    reject(why)
  }
  const fail = () => end(new OutboundProblem(failure))
  const abort = () => end(signal.reason)
  signal.addEventListener("abort", abort)
  socket.once("close", () => signal.removeEventListener("abort", abort))
  // Not removed: an error without a listener would end the process.
  socket.on("error", fail)
  socket.once("close", fail)
  socket.once(event, () => resolve(socket))
  const timer = waitMs === undefined ? undefined : setTimeout(fail, waitMs)
  if (signal.aborted) abort()
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
