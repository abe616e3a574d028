import { at, jsonOrNothing, list, parseJson } from "../../measuring/parsing/json.ts"
import { asksForProof } from "../../measuring/parsing/proof.ts"
import { ReadFailure, type SourceRequest } from "../../measuring/source.ts"
import { callsOf } from "./calls.ts"

/** Identifies one of a page's data blocks. */
interface Anchor {
  /** The RPC that filled the block. */
  rpc: string
  /** The block's key in the recorded page, such as "ds:4". Used only when the page does not list its RPCs. */
  key: string
  /** Whether the data has the expected shape. Distinguishes several blocks filled by the same RPC. */
  fits(data: unknown): boolean
}

/**
 * Returns the data of one block of a play.google.com page. Block keys change with the page's layout, but the page lists
 * in AF_dataServiceRequests which RPC filled which block; that is stable. Throws ReadFailure: `blocked` when the page
 * requires a CAPTCHA or consent, `changed` unless exactly one block fits.
 */
export function blockOf(page: string, { rpc, key, fits }: Anchor): unknown {
  const named = keysOf(page, rpc)
  const wanted = named ?? new Set([key])
  const fitting = blocksOf(page, { wanted, fits })
  // Reject a truncated page: the parts that were cut off would look as if the listing had changed.
  if (fitting.length === 1 && !isWhole(page)) throw new ReadFailure("changed", "the page is truncated")
  if (fitting.length === 1) return fitting[0]
  throw unreadable(page, `${fitting.length === 0 ? "no block" : "more than one block"} fits ${rpc}`)
}

/**
 * Returns the data of an optional block, found through the page's RPC table alone. Undefined if the table does not list
 * the RPC, or if no block or several blocks fit.
 */
export function namedBlock(page: string, { rpc, fits }: Omit<Anchor, "key">): unknown {
  const named = keysOf(page, rpc)
  const fitting = named ? blocksOf(page, { wanted: named, fits }) : []
  return fitting.length === 1 ? fitting[0] : undefined
}

/**
 * Returns the answer of one RPC of batchexecute. Null if the answer is empty. Throws ReadFailure: `rate_limited` or
 * `failed` when the RPC has such a status, otherwise the same as blockOf.
 */
export function answerOf(body: string, rpc: string): unknown {
  if (!body.startsWith(GUARD)) throw unreadable(body, "no batchexecute response")
  const frames = list(parseJson(body.slice(GUARD.length), "the answer"))
  const [frame, ...more] = frames.filter((each) => at(each, 0) === "wrb.fr" && at(each, 1) === rpc)
  if (!frame || more.length > 0) throw new ReadFailure("changed", `not exactly one response of ${rpc}`)
  const payload = at(frame, 2)
  if (typeof payload === "string") return parseJson(payload, `the response of ${rpc}`)
  if (payload !== null) throw new ReadFailure("changed", `the response of ${rpc} is not a text`)
  const status = at(frame, 5, 0)
  if (status !== undefined) throw new ReadFailure(outcomeOf(status), `${rpc} returned an error status`)
  return null
}

/** Builds a request to play.google.com in English. The parsers match English words. */
export function playRequest(path: string, storefront: string, query: Record<string, string>): SourceRequest {
  return playRequestIn("en", path, storefront, query)
}

/** Builds a request to play.google.com in another language, for parsers that do not depend on words. */
export function playRequestIn(
  language: string,
  path: string,
  storefront: string,
  query: Record<string, string>,
): SourceRequest {
  const parameters = new URLSearchParams({ ...query, hl: language, gl: storefront.toUpperCase() })
  const headers = language === "en" ? HEADERS : { ...HEADERS, "accept-language": `${language},en;q=0.5` }
  return { path: `${path}?${parameters}`, headers }
}

const GUARD = ")]}'"

// The headers of the recorded requests, those of a desktop browser. Without them Google may serve another layout.
const HEADERS = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  accept: "text/html,*/*",
  "accept-language": "en-US,en;q=0.9",
}

/** Returns the keys of the blocks that an RPC filled. Undefined if the page's table does not list the RPC. */
function keysOf(page: string, rpc: string): Set<string> | undefined {
  const keys = callsOf(page).flatMap((call) => (call.rpc === rpc ? [call.key] : []))
  return keys.length === 0 ? undefined : new Set(keys)
}

const BLOCK = /^AF_initDataCallback\(\{key: '(ds:\d{1,4})',/

/** Returns the data of the wanted blocks that fit. Stops at two, because callers reject more than one. */
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
 * Yields the content of each script. A manual scan: text inside a script cannot be mistaken for another script, and a
 * regular expression would search to the end of the page again for each unclosed script.
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
  // A regular store page has no CAPTCHA, but a listing on it may contain any of these words.
  const asks = CONSENT.test(page) || (!page.includes("AF_initDataCallback(") && asksForProof(page))
  return asks
    ? new ReadFailure("blocked", "a CAPTCHA, similar proof or consent is required")
    : new ReadFailure("changed", detail)
}

// Inside a listing the quote and the tag would be escaped.
const CONSENT = /action="https:\/\/consent\.google\.|<title>Before you continue/

// google.rpc.Code: 8 is RESOURCE_EXHAUSTED; 4 DEADLINE_EXCEEDED, 13 INTERNAL and 14 UNAVAILABLE are temporary.
function outcomeOf(status: unknown) {
  if (status === 8) return "rate_limited"
  return status === 4 || status === 13 || status === 14 ? "failed" : "changed"
}
