import { BlockList, isIP } from "node:net"
import { listeningUrl, type Settings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/** Warns about valid settings that are probably a mistake. Invalid settings stop every command earlier. */
export function checkSettings({ settings }: Pick<Invocation, "settings">): Finding[] {
  return [...spelling(settings), publicUrl(settings), trustedProxies(settings)]
}

function spelling({ warnings }: Settings): Finding[] {
  if (warnings.length === 0) return [ok("settings", "no misspelt setting")]
  return warnings.map((line) => {
    const [, given, meant] = /^(\S+) is not a setting; did you mean (\S+)\?$/.exec(line) ?? []
    if (!given) return warning("settings", line, "remove it from the environment or the settings file")
    return warning("settings", `${given} is not a setting`, `rename it to ${meant}, or remove it from the environment`)
  })
}

function publicUrl({ publicUrl, host, port }: Settings): Finding {
  const thing = "PUBLIC_URL"
  if (publicUrl === undefined) {
    if (isLoopback(host)) return ok(thing, `not set; links begin with ${listeningUrl(host, port)}`)
    return warning(
      thing,
      `not set although HOST=${host} admits other machines: links begin with ${listeningUrl(host, port)}, ` +
        "and assistants that use another name are refused",
      "set PUBLIC_URL to the address that callers use, for example PUBLIC_URL=https://ranks.example.com",
    )
  }
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol === "https:" || isPrivate(hostname)) return ok(thing, publicUrl)
  const name = isIP(hostname.replace(/^\[|\]$/g, "")) ? "ranks.example.com" : hostname
  const proxy = `put a TLS proxy in front (appmeter packaging caddy --name ${name} prints a configuration)`
  const fix = `${proxy} and set PUBLIC_URL=https://${name}`
  return warning(thing, `${publicUrl} is not encrypted, so keys can be read in transit`, fix)
}

function trustedProxies({ trustedProxies, publicUrl }: Settings): Finding {
  const thing = "TRUSTED_PROXIES"
  const anybody = trustedProxies.find((entry) => /\/[0-7]$/.test(entry))
  if (anybody) {
    return problem(
      thing,
      `${anybody} lets callers fake their address`,
      `remove ${anybody} from TRUSTED_PROXIES and list only your own proxies, for example TRUSTED_PROXIES=127.0.0.1`,
    )
  }
  if (trustedProxies.length > 0) return ok(thing, trustedProxies.join(", "))
  // this program has no TLS, so an https address means that there is a proxy
  if (!publicUrl?.startsWith("https:")) return ok(thing, "none")
  return warning(
    thing,
    "not set although PUBLIC_URL is https: all callers seem to have the proxy's address, " +
      "so address allow lists refuse them",
    "set TRUSTED_PROXIES to the proxy's address as this machine sees it, for example TRUSTED_PROXIES=127.0.0.1",
  )
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host)
}

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  PRIVATE.addSubnet(network, bits)
for (const [network, bits] of [
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  PRIVATE.addSubnet(network, bits, "ipv6")

/** Returns whether a name or address is valid only inside a network. */
function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "")
  const family = isIP(host)
  if (isLoopback(host)) return true
  if (family !== 0) return PRIVATE.check(host, family === 6 ? "ipv6" : "ipv4")
  return !host.includes(".") || /\.(local|internal|lan|home\.arpa|localhost|test)$/.test(host)
}
