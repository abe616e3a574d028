import { isIP } from "node:net"

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
 * The part of a host's name that somebody registered; null for none. Without the list of public suffixes, of which this
 * knows: one label; two below a country's code, where the first is one of the words that countries use for it; and
 * services that give every customer a name below their own. Of a suffix that it does not know (`web.id`) the right
 * file is still asked for first, as that of a name right below the root, and then one that nobody has.
 */
export function rootDomain(host: string): string | null {
  const name = host.replace(/\.$/, "")
  const labels = name.split(".")
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || labels.includes("")) return null
  const [second = "", top = ""] = labels.slice(-2)
  const double = SHARED.has(`${second}.${top}`) || (top.length === 2 && SECOND_LEVEL.has(second))
  const taken = double ? 3 : 2
  return labels.length < taken ? null : labels.slice(-taken).join(".")
}

const SECOND_LEVEL = new Set("ac co com edu go gob gov govt gv ltd mil ne net nom or org plc sch".split(" "))

const SHARED = new Set([
  "000webhostapp.com", "altervista.org", "appspot.com", "azurewebsites.net", "bitbucket.io", "blogspot.com", "carrd.co",
  "cloudfront.net", "deno.dev", "firebaseapp.com", "fly.dev", "framer.website", "github.io", "gitlab.io", "glitch.me",
  "godaddysites.com", "herokuapp.com", "itch.io", "jimdofree.com", "mystrikingly.com", "netlify.app", "notion.site",
  "onrender.com", "pages.dev", "readthedocs.io", "surge.sh", "tilda.ws", "vercel.app", "web.app", "webflow.io",
  "weebly.com", "wixsite.com", "wordpress.com", "workers.dev",
]) // biome-ignore format: a list to scan
