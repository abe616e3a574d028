import { isIP } from "node:net"
import { WrongUse } from "../cli/command.ts"
import type { Endpoint } from "./bridge.ts"

/** Returns the tool endpoint of a server's address. Throws WrongUse without repeating a key. */
export function toolsUrl(address: string): URL {
  const url = URL.parse(address)
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!plain)
    throw new WrongUse(
      "--url (APPMETER_URL) must be only a server's address, such as https://ranks.example.com; " +
        "set the key in APPMETER_KEY and toolsets with --tools",
    )
  const path = url.pathname.replace(/\/+$/, "")
  return new URL(path.endsWith("/mcp") ? path : `${path}/mcp`, url)
}

/** Returns whether traffic to this URL is unencrypted on the network. */
export function isUnencrypted({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isLoopback(hostname)
}

/** Returns the endpoint over the network. Requests to this machine bypass a proxy from the environment. */
export function openRemote({ hostname }: URL, env: Record<string, string | undefined>): Endpoint {
  if (isLoopback(hostname))
    for (const name of ["NO_PROXY", "no_proxy"]) env[name] = [env[name], hostname].filter(Boolean).join(",")
  return (request) => fetch(request)
}

/** Explains what to do about a server that is unreachable or whose connection was lost. */
export function explainRemote({ origin }: URL, error: unknown): string {
  const { code = "", message = String(error) } = (error ?? {}) as { code?: string; message?: string }
  const why = UNREACHABLE[code]
  if (why) return `${origin} cannot be reached: ${why}`
  if (LOST.has(code))
    return `the connection to ${origin} ended before the answer; before you repeat a write, check whether it was done`
  const reason = message.split("\n")[0]?.slice(0, 200)
  return `the request to ${origin} failed: ${reason}${code && !message.includes(code) ? ` (${code})` : ""}`
}

const START = "nothing listens there; start the server with appmeter serve, or correct --url (APPMETER_URL)"
const NAME = "the host name is unknown; correct --url (APPMETER_URL)"

// Runtimes have different codes for the same reason.
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: START,
  ConnectionRefused: START,
  ENOTFOUND: NAME,
  EAI_AGAIN: NAME,
  FailedToOpenSocket: "the host does not answer",
  ETIMEDOUT: "it did not answer in time",
  EHOSTUNREACH: "there is no route to the host",
}
const LOST = new Set(["ECONNRESET", "ConnectionClosed", "EPIPE", "UND_ERR_SOCKET"])

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."))
}
