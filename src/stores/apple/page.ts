import { at, jsonOrNothing, list, parseJson } from "../../measuring/parsing/json.ts"
import { asksForProof } from "../../measuring/parsing/proof.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { appleStorefront } from "./storefronts.ts"

/**
 * As a browser of a storefront's country asks apps.apple.com. Apple picks the storefront from where a request comes from
 * unless the cookie says otherwise. Throws RangeError for a storefront that the App Store has not.
 */
export function browserHeaders(storefront: string): Record<string, string> {
  return {
    "user-agent":
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-language": `${appleStorefront(storefront).language},en;q=0.5`,
    cookie: `geo=${storefront.toUpperCase()}`,
  }
}

/**
 * The entries of the data that a page of apps.apple.com embeds: an array in older pages, an object that holds the array in
 * newer ones. Throws ReadFailure: `blocked` for a page that asks for a proof instead, `changed` for any other without it.
 */
export function embeddedPages(body: string): readonly unknown[] {
  const data = scriptAfter(body, EMBEDDED, 0)?.content
  if (data === undefined) {
    const blocked = !body.includes(EMBEDDED) && !body.includes(LINKED) && asksForProof(body)
    throw new ReadFailure(blocked ? "blocked" : "changed", blocked ? "a proof is asked for" : "no embedded data")
  }
  const root = parseJson(data, "the embedded data")
  return list(Array.isArray(root) ? root : at(root, "data"))
}

const EMBEDDED = "serialized-server-data"
const LINKED = "application/ld+json"

/** The first of the descriptions of a type of schema.org that a page holds for search engines; undefined without one. */
export function linkedData(body: string, type: string): unknown {
  for (let script = scriptAfter(body, LINKED, 0); script; script = scriptAfter(body, LINKED, script.end)) {
    const described = jsonOrNothing(script.content)
    const found = [described, ...list(described)].find((one) => at(one, "@type") === type)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The next script from a place on whose tag names a type or id, with where it ends. Takes time that grows with the page's
 * length, whatever it holds.
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

/** The storefront of the address that the page says is its own. */
export function canonicalStorefront(body: string): string | undefined {
  const name = body.indexOf('rel="canonical"')
  if (name === -1) return undefined
  const tag = body.slice(body.lastIndexOf("<", name), body.indexOf(">", name))
  return /\shref="https:\/\/apps\.apple\.com\/([a-z]{2})\//.exec(tag)?.[1]
}
