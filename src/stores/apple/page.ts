import { at, jsonOrNothing, list, parseJson } from "../../measuring/parsing/json.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { appleStorefront } from "./storefronts.ts"

/**
 * Returns the headers of a browser in the storefront's country, for apps.apple.com. The cookie selects the storefront;
 * without it Apple uses the address of the request. Throws RangeError when the App Store has no such storefront.
 */
export function browserHeaders(storefront: string): Record<string, string> {
  return {
    "user-agent":
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, " +
      "like Gecko) Version/18.5 Safari/605.1.15",
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-language": `${appleStorefront(storefront).language},en;q=0.5`,
    cookie: `geo=${storefront.toUpperCase()}`,
  }
}

/**
 * Returns the entries of the data embedded in an apps.apple.com page: an array in older pages, an object with the array
 * in newer ones. Throws ReadFailure: `blocked` when the page requires a CAPTCHA instead, `changed` when the data is
 * missing.
 */
export function embeddedPages(body: string): readonly unknown[] {
  const data = scriptAfter(body, EMBEDDED, 0)?.content
  if (data === undefined) {
    const changed = new ReadFailure("changed", "no embedded data")
    throw body.includes(EMBEDDED) || body.includes(LINKED) ? changed : blockedOr(changed, body)
  }
  const root = parseJson(data, "the embedded data")
  return list(Array.isArray(root) ? root : at(root, "data"))
}

const EMBEDDED = "serialized-server-data"
const LINKED = "application/ld+json"

/** Returns the first schema.org description of a type in the page's linked data. Undefined if there is none. */
export function linkedData(body: string, type: string): unknown {
  for (let script = scriptAfter(body, LINKED, 0); script; script = scriptAfter(body, LINKED, script.end)) {
    const described = jsonOrNothing(script.content)
    const found = [described, ...list(described)].find((entry) => at(entry, "@type") === type)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Returns the next script after `from` whose tag has this type or id, with its end position. Takes time linear in the
 * page's length for any content.
 */
function scriptAfter(body: string, named: string, from: number): { content: string; end: number } | undefined {
  for (let name = body.indexOf(named, from); name !== -1; name = body.indexOf(named, name + 1)) {
    const before = body.slice(Math.max(0, name - LONGEST_TAG), name)
    const after = body.slice(name, name + LONGEST_TAG)
    if (!/<script\s[^<>]*\b(?:id|type)=["']?$/i.test(before.slice(before.lastIndexOf("<"))) || !after.includes(">"))
      continue
    const start = name + after.indexOf(">") + 1
    const end = body.indexOf("</script", start)
    return end === -1 ? undefined : { content: body.slice(start, end), end }
  }
  return undefined
}

const LONGEST_TAG = 500

/** Returns the storefront of the page's canonical URL. */
export function canonicalStorefront(body: string): string | undefined {
  const name = body.indexOf('rel="canonical"')
  if (name === -1) return undefined
  const tag = body.slice(body.lastIndexOf("<", name), body.indexOf(">", name))
  return /\shref="https:\/\/apps\.apple\.com\/([a-z]{2})\//.exec(tag)?.[1]
}
