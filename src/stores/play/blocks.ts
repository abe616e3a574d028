import { at, jsonOrNothing, list, parseJson } from "../../measuring/parsing/json.ts"
import { asksForProof } from "../../measuring/parsing/proof.ts"
import { ReadFailure, type SourceRequest } from "../../measuring/source.ts"
import { callsOf } from "./calls.ts"

/** Which of a page's data blocks is meant. */
interface Anchor {
  /** The call that filled it. */
  rpc: string
  /** Its number when it was recorded, "ds:4": believed only on a page that does not say which call filled which block. */
  key: string
  /** Whether data has the shape that is meant; of several blocks that one call filled, one must. */
  fits(data: unknown): boolean
}

/**
 * The data of one block of a page of play.google.com. The page numbers its blocks anew whenever its layout changes, but
 * says in AF_dataServiceRequests which call filled which: that holds. Throws ReadFailure: `blocked` for a page that asks
 * for a proof or a consent, `changed` unless exactly one block fits.
 */
export function blockOf(page: string, { rpc, key, fits }: Anchor): unknown {
  const named = keysOf(page, rpc)
  const wanted = named ?? new Set([key])
  const fitting = blocksOf(page, { wanted, fits })
  // what a page that breaks off lacks, another would not have: it would look like a change of the listing
  if (fitting.length === 1 && !isWhole(page)) throw new ReadFailure("changed", "the page breaks off")
  if (fitting.length === 1) return fitting[0]
  throw unreadable(page, `${fitting.length === 0 ? "no block" : "more than one block"} fits ${rpc}`)
}

/**
 * The data of a block that a page may have or not, told by the page's own table alone; undefined where the table does not
 * name the call, or no block or several fit.
 */
export function namedBlock(page: string, { rpc, fits }: Omit<Anchor, "key">): unknown {
  const named = keysOf(page, rpc)
  const fitting = named ? blocksOf(page, { wanted: named, fits }) : []
  return fitting.length === 1 ? fitting[0] : undefined
}

/**
 * What one call of batchexecute answered; null where it answered with nothing. Throws ReadFailure: `rate_limited` or
 * `failed` for a call that says so, else as blockOf does.
 */
export function answerOf(body: string, rpc: string): unknown {
  if (!body.startsWith(GUARD)) throw unreadable(body, "no answer of batchexecute")
  const frames = list(parseJson(body.slice(GUARD.length), "the answer"))
  const [frame, ...more] = frames.filter((each) => at(each, 0) === "wrb.fr" && at(each, 1) === rpc)
  if (!frame || more.length > 0) throw new ReadFailure("changed", `not one answer of ${rpc}`)
  const payload = at(frame, 2)
  if (typeof payload === "string") return parseJson(payload, `the answer of ${rpc}`)
  if (payload !== null) throw new ReadFailure("changed", `the answer of ${rpc} is no text`)
  const status = at(frame, 5, 0)
  if (status !== undefined) throw new ReadFailure(outcomeOf(status), `${rpc} answered with a status`)
  return null
}

/** A request below play.google.com, in English: what the parsers read of its words is known in that language. */
export function playRequest(path: string, storefront: string, query: Record<string, string>): SourceRequest {
  return playRequestIn("en", path, storefront, query)
}

/** A request below play.google.com in another language, for what is not read of its words. */
export function playRequestIn(
  language: string,
  path: string,
  storefront: string,
  query: Record<string, string>,
): SourceRequest {
  const asked = new URLSearchParams({ ...query, hl: language, gl: storefront.toUpperCase() })
  const headers = language === "en" ? HEADERS : { ...HEADERS, "accept-language": `${language},en;q=0.5` }
  return { path: `${path}?${asked}`, headers }
}

const GUARD = ")]}'"

// What the pages were recorded with: a desktop browser. Without one, another layout may be served.
const HEADERS = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  accept: "text/html,*/*",
  "accept-language": "en-US,en;q=0.9",
}

/** The blocks that a call filled, by the page's own table; undefined where the page does not name the call. */
function keysOf(page: string, rpc: string): Set<string> | undefined {
  const keys = callsOf(page).flatMap((call) => (call.rpc === rpc ? [call.key] : []))
  return keys.length === 0 ? undefined : new Set(keys)
}

const BLOCK = /^AF_initDataCallback\(\{key: '(ds:\d{1,4})',/

/** The data of the wanted blocks that fit: none, one, or the first two, of which whoever asks can take neither. */
function blocksOf(page: string, { wanted, fits }: { wanted: ReadonlySet<string>; fits: Anchor["fits"] }): unknown[] {
  const fitting: unknown[] = []
  for (const script of scriptsOf(page)) {
    if (!wanted.has(BLOCK.exec(script)?.[1] ?? "")) continue
    const data = dataOf(script)
    if (fits(data)) fitting.push(data)
    if (fitting.length > 1) break
  }
  return fitting
}

/**
 * What stands in each script. Scripts are taken one after another, so that no text within one can pass for another; by
 * hand, since a pattern looks for the end of one that has none again from each that begins.
 */
function* scriptsOf(page: string): Generator<string> {
  for (let at = page.indexOf("<script"); at !== -1; at = page.indexOf("<script", at)) {
    at += "<script".length
    if (/\w/.test(page.charAt(at))) continue
    const start = page.indexOf(">", at) + 1
    const end = start === 0 ? -1 : page.indexOf("</script", start)
    if (end === -1) return
    yield page.slice(start, end)
    at = end
  }
}

function isWhole(page: string): boolean {
  return page.slice(-100).trimEnd().endsWith("</html>")
}

function dataOf(script: string): unknown {
  const start = script.indexOf("data:")
  const end = script.lastIndexOf(", sideChannel:")
  return start === -1 || end === -1 ? undefined : jsonOrNothing(script.slice(start + "data:".length, end))
}

function unreadable(page: string, detail: string): ReadFailure {
  // a page of the store itself asks for no proof, but a listing on it may say any of the words
  const asks = CONSENT.test(page) || (!page.includes("AF_initDataCallback(") && asksForProof(page))
  return asks ? new ReadFailure("blocked", "a proof or a consent is asked for") : new ReadFailure("changed", detail)
}

// Within a listing the quote and the tag would be escaped.
const CONSENT = /action="https:\/\/consent\.google\.|<title>Before you continue/

// google.rpc.Code: 8 RESOURCE_EXHAUSTED; 4 DEADLINE_EXCEEDED, 13 INTERNAL and 14 UNAVAILABLE pass by themselves.
function outcomeOf(status: unknown) {
  if (status === 8) return "rate_limited"
  return status === 4 || status === 13 || status === 14 ? "failed" : "changed"
}
