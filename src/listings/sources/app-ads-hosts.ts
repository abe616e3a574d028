import { getDomain } from "tldts"

/**
 * Returns the host in a developer's site URL, in lower case, with international names in ASCII. Null if the text is not
 * an http or https URL. User, port and path are ignored.
 */
export function siteHost(site: string): string | null {
  const text = site.trim()
  const url = URL.parse(/^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  return url.hostname.replace(/\.$/, "") || null
}

/**
 * Returns the hosts to request for a developer's app-ads.txt, in order: first the name directly below the root domain,
 * unless that is `www` or `m`, then the root domain. Follows app-ads.txt 1.0 and its test cases. Empty for IP addresses
 * and for names without a registered domain.
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
 * Returns the registered domain of a host name, according to the list of public suffixes. Null if there is none. Names
 * below a shared service (`studio.github.io`) count as registered.
 */
export function rootDomain(host: string): string | null {
  const name = host.replace(/\.$/, "")
  if (name.split(".").includes("")) return null
  return getDomain(name, { allowPrivateDomains: true, validateHostname: false })
}
