import { endOfText, jsonOrNothing } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { ReadFailure } from "../../measuring/source.ts"

/** A call that a page of play.google.com made for its data, as the page's own table has it. */
interface PageCall {
  /** Of the block that it filled: "ds:4". */
  key: string
  rpc: string
  /** What it was asked with; undefined where that cannot be read. */
  request: unknown
}

/**
 * The calls of a page, in its order; none where it has no table of them. Throws ReadFailure (`changed`) for more than any
 * page makes.
 */
export function callsOf(page: string): PageCall[] {
  const table = scriptFrom(page, "AF_dataServiceRequests = {")
  const calls: PageCall[] = []
  // the requests are in there too, and with them what was searched for, which may look like anything: each is stepped over
  for (let at = 0; ; ) {
    ENTRY.lastIndex = at
    const entry = ENTRY.exec(table)
    if (!entry) return calls
    const end = endOfList(table, ENTRY.lastIndex)
    const [, key = "", rpc = ""] = entry
    calls.push({ key, rpc, request: jsonOrNothing(table.slice(ENTRY.lastIndex, end)) })
    if (calls.length > MOST_CALLS) throw new ReadFailure("changed", "more calls than any page makes")
    at = end
  }
}

/**
 * Throws ReadFailure: `mismatched` where a page of play.google.com is of another country's store than was asked for, and
 * `changed` where it names none or several. Without that word nobody knows whose page it is: `gl` may be followed or not.
 */
export function assertCountry(page: string, storefront: string): void {
  const [country, ...others] = countriesOf(page)
  if (country === undefined) throw new ReadFailure("changed", "the page does not name its country")
  if (others.length > 0) throw new ReadFailure("changed", "the page names more than one country")
  if (country === storefront) return
  throw mismatched(`the page is that of ${country.toUpperCase()}, ${storefront.toUpperCase()} was asked for`, country)
}

/** The country that a page of play.google.com names: two small letters. Undefined where it names none or several. */
export function namedCountry(page: string): string | undefined {
  const [country, ...others] = countriesOf(page)
  return others.length === 0 ? country : undefined
}

function countriesOf(page: string): string[] {
  const countries = new Set<string>()
  // one after another: a hostile page names them hundreds of thousands of times
  for (const [, code = ""] of scriptFrom(page, "WIZ_global_data = {").matchAll(COUNTRY))
    countries.add(code.toLowerCase())
  return [...countries]
}

// Recorded pages make 20 at most.
const MOST_CALLS = 1_000

/** The script from this mark on; empty where the page has no such mark. */
function scriptFrom(page: string, mark: string): string {
  const start = page.indexOf(mark)
  if (start === -1) return ""
  const end = page.indexOf("</script", start)
  return page.slice(start, end === -1 ? page.length : end)
}

const ENTRY = /'(ds:\d{1,4})' ?: ?\{id:'(\w{1,40})',(?:ext: ?[\w.+-]{1,40} ?,)?request:/g

// Two places of the page's settings, which every recorded page has alike. Quotes within a text are escaped there.
const COUNTRY = /"(?:fjF0tb|zQmIje)":"([A-Z]{2})"/g

/** Where the list that begins here ends: at the end of the text where it is broken off, at once where none begins. */
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
