import type { Call } from "./calls.ts"
import { REORDERED } from "./intended.ts"
import type { Answer } from "./server.ts"

/** One place where the answers of the two builds differ. */
export interface Difference {
  operation: string
  surface: Call["surface"]
  state: string
  /** "status", "header x-credits-used" or "body.keywords[].rank"; an index of a list is left out. */
  path: string
  old: unknown
  new: unknown
  /** The call in readable form: method, path and key. */
  call: string
}

export interface CompareOptions {
  /** True compares sentences word for word. False treats all sentences as equal. */
  texts: boolean
  /**
   * Times before this moment are data and must be equal. Later ones may differ, because the two calls are not
   * simultaneous.
   */
  startedAt: Date
}

export interface Comparer {
  compare(call: Call, old: Answer, next: Answer): Difference[]
  compareValues(call: Call, old: unknown, next: unknown): Difference[]
}

/** Headers that say nothing about the answer. */
const IGNORED_HEADERS = new Set(["date", "content-length", "connection", "keep-alive", "server"])
/** Headers with a random or derived value, which must be present in both answers or in neither. */
const PRESENT_HEADERS = new Set(["x-request-id", "traceparent", "etag", "last-modified"])
/** Headers with totals. After one different charge they differ for good, so their growth is compared. */
const TOTAL_HEADERS = ["x-credits-used", "x-credits-remaining"]

/** Fields that contain a sentence for people, or an address of the manual. */
const TEXT_FIELDS = new Set([
  "detail",
  "docs",
  "message",
  "description",
  "summary",
  "title",
  "sentence",
  "note",
  "label",
])

const CLOSE_MS = 180_000
const MIN_PROSE_WORDS = 4

export function makeComparer({ texts, startedAt }: CompareOptions): Comparer {
  const pairs = new Map<string, string>()
  const drifts = new Map<string, number>()
  const totals = new Map<string, { old: number; next: number }>()

  const compareHeaders = (call: Call, old: Answer, next: Answer, report: Report) => {
    const names = new Set([...Object.keys(old.headers), ...Object.keys(next.headers)])
    for (const name of [...names].sort()) {
      if (IGNORED_HEADERS.has(name)) continue
      const [before, after] = [old.headers[name], next.headers[name]]
      if (TOTAL_HEADERS.includes(name) && before !== undefined && after !== undefined) {
        if (hasDrifted(`${call.account} ${name}`, Number(before), Number(after)))
          report(`header ${name}`, before, after)
        continue
      }
      if (PRESENT_HEADERS.has(name) && (before === undefined) === (after === undefined)) continue
      if (name === "ratelimit" || name === "retry-after") {
        if (before !== undefined && after !== undefined && maskNumbers(before) === maskNumbers(after)) continue
      }
      if (!sameString(before ?? "", after ?? "", name) || (before === undefined) !== (after === undefined))
        report(`header ${name}`, before, after)
    }
  }

  /**
   * Returns whether the difference between the totals of both builds changed. A call without a charge may show a
   * slightly older total, so a total that did not grow since the last call is compared only after the next charge.
   */
  const hasDrifted = (total: string, old: number, next: number): boolean => {
    const last = totals.get(total)
    totals.set(total, { old: furthest(total, last?.old, old), next: furthest(total, last?.next, next) })
    const drift = next - old
    if (drift === (drifts.get(total) ?? 0)) return false
    if (last && (!isFurther(total, last.old, old) || !isFurther(total, last.next, next))) return false
    drifts.set(total, drift)
    return true
  }

  const compareNodes = (path: string, old: unknown, next: unknown, account: string, report: Report): void => {
    if (Object.is(old, next)) return
    if (Array.isArray(old) && Array.isArray(next)) {
      if (old.length !== next.length) {
        report(`${path}[] length`, summary(old, next), summary(next, old))
        return
      }
      for (const [i, item] of old.entries()) compareNodes(`${path}[]`, item, next[i], account, report)
      return
    }
    if (isObject(old) && isObject(next)) {
      for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
        const inside = path === "" ? name : `${path}.${generalName(name)}`
        if (!(name in old)) report(inside, undefined, next[name])
        else if (!(name in next)) report(inside, old[name], undefined)
        else compareNodes(inside, old[name], next[name], account, report)
      }
      return
    }
    if (typeof old === "string" && typeof next === "string") {
      const [before, after] = [parsedJson(old), parsedJson(next)]
      if (before !== undefined && after !== undefined) {
        compareNodes(path, before, after, account, report)
        return
      }
      if (sameString(old, next, path.split(".").at(-1)!)) return
    }
    if (typeof old === "number" && typeof next === "number") {
      const total = /credits\.(?:used|remaining)$/.exec(path)?.[0]
      if (total !== undefined && !hasDrifted(`${account} ${total}`, old, next)) return
      if (total === undefined && isDrifted(account, next - old)) return
    }
    report(path, old, next)
  }

  // a total inside a body has the same difference as the totals in the headers
  const isDrifted = (account: string, difference: number): boolean =>
    TOTAL_HEADERS.some((name) => {
      const drift = drifts.get(`${account} ${name}`) ?? 0
      return drift !== 0 && drift === difference
    })

  const sameString = (old: string, next: string, field: string): boolean => {
    if (old === next) return true
    if (/cursor$/i.test(field)) return (old === "") === (next === "")
    if (!texts && TEXT_FIELDS.has(field.replace(/\[\]$/, ""))) return true
    const [before, after] = [Date.parse(old), Date.parse(next)]
    if (ISO_TIME.test(old) && ISO_TIME.test(next)) {
      const isLive = Math.min(before, after) >= startedAt.getTime()
      return isLive && Math.abs(before - after) <= CLOSE_MS
    }
    if (sameButIds(old, next)) return true
    return !texts && isProse(old) && isProse(next)
  }

  /**
   * Returns whether two texts differ only in random ids, and each id of one build always corresponds to the same id of
   * the other.
   */
  const sameButIds = (old: string, next: string): boolean => {
    const [before, after] = [old.split(WORD), next.split(WORD)]
    if (before.length !== after.length) return false
    return before.every((part, i) => {
      const other = after[i]!
      if (part === other) return true
      if (!isRandomId(part) || !isRandomId(other) || prefixOf(part) !== prefixOf(other)) return false
      const expected = pairs.get(`old ${part}`) ?? other
      const back = pairs.get(`new ${other}`) ?? part
      pairs.set(`old ${part}`, expected)
      pairs.set(`new ${other}`, back)
      return expected === other && back === part
    })
  }

  const collect = (call: Call): [Difference[], Report] => {
    const found: Difference[] = []
    const { operation, surface, state } = call
    const report: Report = (path, old, next) =>
      found.push({ operation, surface, state, path, old, new: next, call: spoken(call) })
    return [found, report]
  }

  return {
    compare(call, old, next) {
      const [found, report] = collect(call)
      const [before, after] = [bodyOf(old), bodyOf(next)]
      if (old.status !== next.status || errorOf(before) !== errorOf(after)) {
        const path = old.status !== next.status ? "status" : "error"
        report(path, outcome(old.status, before), outcome(next.status, after))
        // the rest of two different outcomes cannot be compared; the later totals show a different charge
        return found
      }
      compareHeaders(call, old, next, report)
      if (!call.ignoresBody) compareNodes("body", ordered(call, before), ordered(call, after), call.account, report)
      return found
    },
    compareValues(call, old, next) {
      const [found, report] = collect(call)
      compareNodes("body", ordered(call, old), ordered(call, next), call.account, report)
      return found
    },
  }
}

/** Returns the body with its reordered lists sorted by the field that names their items. */
function ordered({ operation }: Call, body: unknown): unknown {
  const lists = REORDERED.filter(({ operations }) => operations.includes(operation))
  if (lists.length === 0) return body
  const sorted = (value: unknown, name?: string): unknown => {
    if (typeof value === "string") {
      const inside = parsedJson(value)
      return inside === undefined ? value : JSON.stringify(sorted(inside))
    }
    if (Array.isArray(value)) {
      const by = lists.find(({ list }) => list === name)?.by
      const items = value.map((item) => sorted(item))
      return by === undefined ? items : items.toSorted((a, b) => (nameIn(a, by) < nameIn(b, by) ? -1 : 1))
    }
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, sorted(inside, key)]))
  }
  return sorted(body)
}

function nameIn(item: unknown, by: string): string {
  return isObject(item) ? String(item[by]) : ""
}

/** Returns whether a total is beyond the last one. Used credits grow, remaining ones shrink. */
function isFurther(total: string, last: number, current: number): boolean {
  return total.endsWith("remaining") ? current < last : current > last
}

function furthest(total: string, last: number | undefined, current: number): number {
  return last === undefined || isFurther(total, last, current) ? current : last
}

type Report = (path: string, old: unknown, next: unknown) => void

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
const WORD = /([A-Za-z0-9_-]{8,})/
const TOKEN_LENGTH = 43

/**
 * Returns whether a word is a random id: after its prefix it has at least eight characters, with digits or capitals
 * among them. A date is none.
 */
function isRandomId(word: string): boolean {
  const tail = word.slice(prefixOf(word).length)
  return tail.length >= 8 && /[0-9A-Z]/.test(tail) && !/^\d{4}-\d\d-\d\d/.test(word)
}

/**
 * Returns the prefix of an id, which names its kind. Tokens of 32 random bytes in base64url have none, though one may
 * begin like it.
 */
function prefixOf(word: string): string {
  if (word.length === TOKEN_LENGTH) return ""
  return /^[a-z]{2,}_(?:live_|test_)?/.exec(word)?.[0] ?? ""
}

function isProse(text: string): boolean {
  return text.trim().split(/\s+/).length >= MIN_PROSE_WORDS
}

function maskNumbers(text: string): string {
  return text.replace(/([rt]=)?\d+/g, "#")
}

/** Returns "*" for a key that is data (an id, a day), so that all of them count as one key. */
function generalName(name: string): string {
  return /^\d/.test(name) ? "*" : name
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function bodyOf({ text, headers }: Answer): unknown {
  if (text === "") return null
  if (/json/.test(headers["content-type"] ?? "")) return parsedJson(text) ?? text
  if (/csv|jsonl|ndjson/.test(headers["content-type"] ?? "")) return text.split("\n")
  return text
}

function parsedJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the error code of a REST answer or of a tool's result. */
function errorOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  if (typeof body.error === "string") return body.error
  if (isObject(body.error)) return String(body.error.code)
  const result = body.result
  if (!isObject(result) || result.isError !== true || !Array.isArray(result.content)) return undefined
  const inner = parsedJson(String((result.content[0] as { text?: string } | undefined)?.text))
  return (isObject(inner) && typeof inner.error === "string" && inner.error) || "tool error"
}

function outcome(status: number, body: unknown): string {
  const error = errorOf(body)
  return error === undefined ? String(status) : `${status} ${error}`
}

/** Returns the items that only one of the lists has, at most two of them. */
function summary(list: unknown[], other: unknown[]): string {
  const have = new Set(other.map((item) => JSON.stringify(item)))
  const more = list.map((item) => JSON.stringify(item)).filter((item) => !have.has(item))
  return `${list.length}${more.length > 0 ? `, with ${more.slice(0, 2).join(" ")}` : ""}`
}

export function spoken({ surface, method, path, key, body }: Call): string {
  const sent = body === undefined ? "" : ` ${body.slice(0, 300)}`
  return `${surface} ${method} ${path} (key ${key ?? "none"})${sent}`
}
