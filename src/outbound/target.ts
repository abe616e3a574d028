import { OutboundProblem } from "./problem.ts"

export interface Target {
  url: URL
  /** Without the brackets of an IPv6 address and without the final dot of a name. */
  host: string
  port: number
  secure: boolean
}

const LONGEST = 2_048
const PORTS = { "http:": 80, "https:": 443 }

/**
 * Parses a URL. Throws `bad_address`. The URL parser normalises every spelling of an IP address (octal, hexadecimal,
 * short, full-width), both in Bun 1.4.5 and Deno 2.9.6.
 */
export function targetOf(address: string | URL, ports: readonly number[]): Target {
  const url = String(address).length > LONGEST ? null : URL.parse(String(address))
  if (!url || !isScheme(url.protocol) || url.username || url.password) throw new OutboundProblem("bad_address")
  const port = url.port === "" ? PORTS[url.protocol] : Number(url.port)
  if (![...Object.values(PORTS), ...ports].includes(port)) throw new OutboundProblem("bad_address")
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
  return { url, host, port, secure: url.protocol === "https:" }
}

function isScheme(protocol: string): protocol is keyof typeof PORTS {
  return Object.hasOwn(PORTS, protocol)
}
