import { BlockList, isIP } from "node:net"

/**
 * Returns true if an address is public, by IANA's special-purpose registries (2025). For IPv6 only 2000::/3 is public,
 * which excludes v4-mapped, NAT64 and local addresses with one rule.
 */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (address.includes("%")) return false
  const family = isIP(address)
  if (family === 4) return !SPECIAL_IPV4.check(address, "ipv4")
  return family === 6 && UNICAST_IPV6.check(address, "ipv6") && !SPECIAL_IPV6.check(address, "ipv6")
}

const SPECIAL_IPV4 = networks("ipv4", [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // shared by a carrier's customers
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // the host of an Azure machine, in public space
  ["169.254.0.0", 16], // link-local, with the clouds' metadata
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
])

const UNICAST_IPV6 = networks("ipv6", [["2000::", 3]])

const SPECIAL_IPV6 = networks("ipv6", [
  ["2001::", 23], // protocol assignments, with Teredo and benchmarks
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: any IPv4 address inside
  ["3fff::", 20], // documentation
])

function networks(family: "ipv4" | "ipv6", list: readonly (readonly [string, number])[]): BlockList {
  const rules = new BlockList()
  for (const [network, bits] of list) rules.addSubnet(network, bits, family)
  return rules
}
