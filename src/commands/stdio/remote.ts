import { isIP } from "node:net"
import { WrongUse } from "../cli/command.ts"
import type { Endpoint } from "./bridge.ts"

/** The tool endpoint of a server at an address as people type it. Throws WrongUse, which does not repeat a key. */
export function toolsUrl(address: string): URL {
  const url = URL.parse(address)
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!plain)
    throw new WrongUse(
      "--url (APPMETER_URL) takes a server's address alone, as https://ranks.example.com; the key stands in APPMETER_KEY, toolsets in --tools",
    )
  const path = url.pathname.replace(/\/+$/, "")
  return new URL(path.endsWith("/mcp") ? path : `${path}/mcp`, url)
}

/** Whether what is sent there can be read on the way. */
export function isReadableOnTheWay({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopback(hostname)
}

/** Reaches it as any program does; what is on this machine is reached without the proxy that the environment may name. */
export function openRemote({ hostname }: URL, env: Record<string, string | undefined>): Endpoint {
  if (isLoopback(hostname))
    for (const name of ["NO_PROXY", "no_proxy"]) env[name] = [env[name], hostname].filter(Boolean).join(",")
  return (request) => fetch(request)
}

/** What to do about a server that could not be reached, or was lost on the way. */
export function explainRemote({ origin }: URL, error: unknown): string {
  const { code = "", message = String(error) } = (error ?? {}) as { code?: string; message?: string }
  const why = UNREACHABLE[code]
  if (why) return `${origin} cannot be reached: ${why}`
  if (LOST.has(code))
    return `the connection to ${origin} ended before the answer; of a write, look whether it was done before you repeat it`
  return `${origin} cannot be asked: ${message.split("\n")[0]?.slice(0, 200)}${code && !message.includes(code) ? ` (${code})` : ""}`
}

const START = "nothing listens there; start the server with appmeter serve, or correct --url (APPMETER_URL)"
const NAME = "the host name is unknown; correct --url (APPMETER_URL)"

// Runtimes name the same by different codes.
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: START, ConnectionRefused: START, ENOTFOUND: NAME, EAI_AGAIN: NAME,
  FailedToOpenSocket: "the host does not answer", ETIMEDOUT: "it did not answer in time", EHOSTUNREACH: "there is no way to the host",
} // biome-ignore format: pairs beside each other
const LOST = new Set(["ECONNRESET", "ConnectionClosed", "EPIPE", "UND_ERR_SOCKET"])

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."))
}
