import { getDomain } from "tldts"

/**
 * The host of a developer's site as a listing gives it, or null where it gives none: another scheme than http and https,
 * or no address at all. Lower-case, international names in their ASCII form; user, port and path do not count.
 */
export function siteHost(site: string): string | null {
  const text = site.trim()
  const url = URL.parse(/^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  return url.hostname.replace(/\.$/, "") || null
}

/**
 * The hosts to be asked for a developer's app-ads.txt, in their order: the name right below the root domain, then the
 * root domain; `www` and `m` are not such a name. From app-ads.txt 1.0, whose own test cases these hold to. Empty for an
 * address in numbers and for a name that is nobody's own.
 */
export function appAdsHosts(host: string): string[] {
  const root = rootDomain(host)
  if (root === null) return []
  const below =
    host
      .slice(0, -root.length - 1)
      .split(".")
      .at(-1) ?? ""
  return below === "" || below === "www" || below === "m" ? [root] : [`${below}.${root}`, root]
}

/**
 * The part of a host's name that somebody registered, by the list of public suffixes; null for none. Names below a shared
 * service (`studio.github.io`) are registered too.
 */
export function rootDomain(host: string): string | null {
  const name = host.replace(/\.$/, "")
  if (name.split(".").includes("")) return null
  return getDomain(name, { allowPrivateDomains: true, validateHostname: false })
}
