import { BlockList, isIP } from "node:net"
import { AccessProblem } from "./problem.ts"

export interface AddressList {
  /** False for null and for text that is not an address. */
  includes(address: string | null): boolean
}

export type TrustedProxies = AddressList

/**
 * Parses a list of addresses and CIDR networks ("192.0.2.1", "10.0.0.0/8", "2001:db8::/32"). Throws AccessProblem
 * naming the first bad entry.
 */
export function parseAddressList(entries: readonly string[]): AddressList {
  const rules = new BlockList()
  for (const entry of entries) addRule(rules, entry)
  return {
    includes(text) {
      const address = text === null ? null : canonicalAddress(text)
      return address !== null && rules.check(address, familyOf(address))
    },
  }
}

/** Parses the proxies whose X-Forwarded-For header is trusted. An empty list trusts none. Throws AccessProblem. */
export const parseTrustedProxies: (entries: readonly string[]) => TrustedProxies = parseAddressList

/**
 * Returns the peer's address. Behind trusted proxies, returns the right-most hop that is not a trusted proxy, because a
 * client can forge every hop to the left of it.
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trusted: TrustedProxies,
): string | null {
  const near = peer === null ? null : canonicalAddress(peer)
  if (!forwardedFor?.trim() || !trusted.includes(near)) return near
  if (forwardedFor.length > LONGEST_HEADER) return null
  const hops = forwardedFor.split(",").map(hopAddress).reverse()
  const client = hops.findIndex((hop) => !trusted.includes(hop))
  // If every hop is a trusted proxy (-1), the farthest one sent the request.
  return hops.at(client) ?? null
}

/**
 * Returns one spelling per address: ::ffff: unmapped, IPv6 short and in lower case, no zone. Null if the text is not an
 * address.
 */
export function canonicalAddress(text: string): string | null {
  const bare = text.replace(/%.*$/, "")
  const family = isIP(bare)
  if (family === 0) return null
  if (family === 4) return bare
  const address = new URL(`http://[${bare}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address)
  if (!mapped) return address
  const [high = 0, low = 0] = mapped.slice(1).map((part) => Number.parseInt(part, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}

/**
 * Returns the network of one subscriber: an IPv4 address, or the /64 of an IPv6 address. "unknown" if the text is not
 * an address.
 */
export function networkOf(text: string | null): string {
  return prefixOf(text, 64)
}

/**
 * Returns the largest network that one site usually gets: an IPv4 address, or the /48 of an IPv6 address. "unknown" if
 * the text is not an address.
 */
export function siteOf(text: string | null): string {
  return prefixOf(text, 48)
}

function prefixOf(text: string | null, bits: 48 | 64): string {
  const address = text === null ? null : canonicalAddress(text)
  if (address === null) return "unknown"
  if (familyOf(address) === "ipv4") return address
  const [left = "", right = ""] = address.split("::")
  const head = left.split(":").filter(Boolean)
  const tail = right.split(":").filter(Boolean)
  const zeros = Array(8 - head.length - tail.length).fill("0")
  return `${[...head, ...zeros, ...tail].slice(0, bits / 16).join(":")}::/${bits}`
}

const LONGEST_HEADER = 4_096

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4"
}

function addRule(rules: BlockList, entry: string): void {
  const [text = "", prefix, ...more] = entry.trim().split("/")
  const address = text.includes("%") ? null : canonicalAddress(text)
  const family = address === null ? "ipv4" : familyOf(address)
  // A network written as ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const shift = family === "ipv4" && text.includes(":") ? 96 : 0
  const bits = prefix === undefined ? undefined : Number(/^\d{1,3}$/.test(prefix) ? prefix : Number.NaN) - shift
  if (address === null || more.length > 0 || (bits !== undefined && !(bits >= 0 && bits <= WIDTH[family]))) {
    throw new AccessProblem(`${JSON.stringify(entry.slice(0, 64))} is not an address or a network like 10.0.0.0/8`)
  }
  if (bits === undefined) rules.addAddress(address, family)
  else rules.addSubnet(address, bits, family)
}

const WIDTH = { ipv4: 32, ipv6: 128 }

// Some proxies append a port to the address.
function hopAddress(hop: string): string | null {
  const text = hop.trim()
  const withPort = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)
  return canonicalAddress(withPort?.[1] ?? text)
}
