import { endOfText, jsonOrNothing } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { ReadFailure } from "../../measuring/source.ts"

/** An RPC that a play.google.com page made for its data, from the page's own table. */
interface PageCall {
  /** Key of the block that the RPC filled: "ds:4". */
  key: string
  rpc: string
  /** The RPC's arguments. Undefined if they cannot be parsed. */
  request: unknown
}

/**
 * Returns the RPCs of a page in page order. Empty if the page has no table of them. Throws ReadFailure (`changed`) when
 * there are more than any page makes.
 */
export function callsOf(page: string): PageCall[] {
  const table = scriptFrom(page, "AF_dataServiceRequests = {")
  const calls: PageCall[] = []
  // Each request is skipped as a whole: it contains the search term, which may look like another entry.
  for (let at = 0; ; ) {
    ENTRY.lastIndex = at
    const entry = ENTRY.exec(table)
    if (!entry) return calls
    const end = endOfList(table, ENTRY.lastIndex)
    const [, key = "", rpc = ""] = entry
    calls.push({ key, rpc, request: jsonOrNothing(table.slice(ENTRY.lastIndex, end)) })
    if (calls.length > MAX_CALLS) throw new ReadFailure("changed", "more calls than any page makes")
    at = end
  }
}

/**
 * Throws ReadFailure: `mismatched` when a play.google.com page belongs to another country's store than requested, and
 * `changed` when it names no country or several. The check is needed because Google may ignore `gl`.
 */
export function assertCountry(page: string, storefront: string): void {
  const [country, ...more] = countriesOf(page)
  if (country === undefined) throw new ReadFailure("changed", "the page does not name its country")
  if (more.length > 0) throw new ReadFailure("changed", "the page names more than one country")
  if (country === storefront) return
  throw mismatched(
    `the page is that of ${country.toUpperCase()}, but ${storefront.toUpperCase()} was requested`,
    country,
  )
}

/**
 * Returns the country that a play.google.com page names, as two lower-case letters. Undefined if it names none or
 * several.
 */
export function namedCountry(page: string): string | undefined {
  const [country, ...more] = countriesOf(page)
  return more.length === 0 ? country : undefined
}

function countriesOf(page: string): string[] {
  const countries = new Set<string>()
  // Iterates instead of collecting all matches: a hostile page may name countries hundreds of thousands of times.
  for (const [, code = ""] of scriptFrom(page, "WIZ_global_data = {").matchAll(COUNTRY))
    countries.add(code.toLowerCase())
  return [...countries]
}

// A limit for hostile pages. Recorded pages make at most 20.
const MAX_CALLS = 1_000

/** Returns the script from this mark on. Empty if the page has no such mark. */
function scriptFrom(page: string, mark: string): string {
  const start = page.indexOf(mark)
  if (start === -1) return ""
  const end = page.indexOf("</script", start)
  return page.slice(start, end === -1 ? page.length : end)
}

const ENTRY = /'(ds:\d{1,4})' ?: ?\{id:'(\w{1,40})',(?:ext: ?[\w.+-]{1,40} ?,)?request:/g

// Two fields of the page's settings that every recorded page has. Quotes within a text are escaped there.
const COUNTRY = /"(?:fjF0tb|zQmIje)":"([A-Z]{2})"/g

/**
 * Returns where the list that begins at `start` ends. Returns the end of the text if the list is cut off, and a
 * position just after `start` if no list begins there.
 */
function endOfList(text: string, start: number): number {
  let depth = 0
  let at = start
  do {
    const sign = text[at]
    if (sign === '"') {
      const close = endOfText(text, at + 1)
      at = close === -1 ? text.length : close
    } else if (sign === "[") depth++
    else if (sign === "]") depth--
    at++
  } while (depth > 0 && at < text.length)
  return at
}
