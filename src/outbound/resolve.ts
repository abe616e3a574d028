import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { isPublicAddress } from "./addresses.ts"
import { OutboundProblem } from "./problem.ts"

/** Returns every address of a host. Throws an error with code ENOTFOUND or ENODATA if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Private networks that may be requested. */
export interface AllowedNetworks {
  includes(address: string): boolean
}

/** Resolves like the operating system: the hosts file first, then the name servers. */
export const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Returns the addresses of a host. All must be public or allowed: a name with one private address is refused entirely.
 * Throws `blocked`, `no_such_host`, `unreachable`.
 */
export async function checkedAddresses(
  host: string,
  { resolve, allowPrivate }: { resolve: Resolve; allowPrivate: AllowedNetworks | undefined },
): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host]
  const mayAsk = (address: string) => isPublicAddress(address) || allowPrivate?.includes(address) === true
  if (!addresses.every((address) => isIP(address) !== 0 && mayAsk(address))) throw new OutboundProblem("blocked")
  return addresses
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  const addresses = await resolve(host).catch((error) => {
    const { code } = error as { code?: unknown }
    throw new OutboundProblem(code === "ENOTFOUND" || code === "ENODATA" ? "no_such_host" : "unreachable")
  })
  if (addresses.length === 0) throw new OutboundProblem("no_such_host")
  return addresses
}
