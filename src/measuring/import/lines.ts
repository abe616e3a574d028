import * as v from "valibot"
import { type AnyKind, kindNamed } from "../../core/kind.ts"
import { type Attempt, OUTCOMES } from "../../core/observation/attempt.ts"
import { ObservationProblem } from "../../core/observation/invariants.ts"
import { Country, Fact, Moment, PlatformName, RankSource, Text } from "../../core/observation/line-parts.ts"
import { LineProblem } from "../../core/observation/line-problem.ts"
import type { Observation } from "../../kinds.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { doubledKey } from "./json-keys.ts"

export { LineProblem }

export type ParsedLine = { kind: "observation"; observation: Observation } | { kind: "attempt"; attempt: Attempt }

/**
 * Reads one line of an import file: a JSON object that is an observation of a kind, with the fields and example
 * declared in the kind's file (kinds/), or a failed read, which is logged and leaves its day unmeasured:
 *
 *     {"kind":"attempt","source":"import","platform":"ios","storefront":"us","term":"photo editor",
 *      "at":"2025-10-25T03:25:01Z","outcome":"blocked","detail":"status 403"}
 *
 * Every line except an app-ads.txt has `storefront` (two letters) and, except a popularity, `source`, `platform` (ios
 * or android) and `seenAt` (ISO 8601 with its zone). Terms are normalised. Optional fields are `parser` (version,
 * default 1), `origin` (publisher, default "own"), `egress` (country of the address that read it) and `sha256` (of the
 * raw body, 64 hex digits; default: that of the trimmed line). An attempt has none of these optional fields, but
 * `outcome` and the `source` of a search.
 *
 * Defaults: a search or chart without `depth` was read to the end of its list, so an empty one needs `depth`; without
 * `complete` it is complete. Reviews without `complete` do not show how far the reading came, so an empty reading needs
 * it. A popularity without `seenAt` was seen when its month ended, the earliest possible time. An app of a look-up
 * without `listing` has an empty one, so that changes are derived as from a live look-up.
 *
 * A blank optional text counts as missing, like null. If a review, an app or a term is listed twice, the first counts,
 * as in the readers of the stores. Unknown fields and duplicate keys are refused here; facts that no store can show are
 * refused when the line is recorded (app-facts.ts). Throws LineProblem.
 */
export function parseLine(text: string, kinds: readonly AnyKind[]): ParsedLine {
  return parseValue(lineIn(text), text, kinds)
}

/**
 * Parses a line like parseLine, but leaves out invalid items. `skipped` has the reason for each, with its index in the
 * line.
 */
export function parseSound(
  text: string,
  now: Date,
  kinds: readonly AnyKind[],
): { parsed: ParsedLine; skipped: string[] } {
  const whole = lineIn(text)
  const skipped: string[] = []
  for (let value = whole; ; ) {
    try {
      const parsed = parseValue(value, text, kinds)
      const { observation } = parsed as { observation?: Observation }
      const kind = observation && kindNamed(observation.kind, kinds)
      if (kind?.unordered) kind.check(observation, now)
      return { parsed, skipped }
    } catch (error) {
      if (!(error instanceof LineProblem || error instanceof ObservationProblem)) throw error
      const rest = skipped.length < MAX_SKIPPED ? withoutItem(value, error.message, kinds) : null
      if (rest === null) throw skipped.length > 0 ? new LineProblem(skipped[0] as string) : error
      skipped.push(error.message.replace(/\[\d+\]/, `[${placeIn(whole, value, error.message, kinds)}]`))
      value = rest
    }
  }
}

/** A line with more invalid items is refused. */
const MAX_SKIPPED = 20

/** Returns the item that a problem names, from the parsed list. */
function itemOf(
  value: unknown,
  problem: string,
  kinds: readonly AnyKind[],
): { name: string; items: unknown[]; item: unknown } | null {
  const { kind } = (value ?? {}) as { kind?: unknown }
  const name = kindNamed(kind, kinds)?.unordered
  if (name === undefined) return null
  const line = withoutOdd(value) as Record<string, unknown>
  const items = line[name]
  const [, list, place] = /^(\w+)\[(\d+)\]/.exec(problem) ?? []
  if (list !== name || !Array.isArray(items)) return null
  return { name, items, item: items[Number(place)] }
}

/**
 * Returns the line without the item that the problem names. Also removes `complete`, which is no longer true. Null if
 * no item is named or none would be left.
 */
function withoutItem(value: unknown, problem: string, kinds: readonly AnyKind[]): unknown {
  const found = itemOf(value, problem, kinds)
  if (found === null || found.items.length < 2) return null
  const { complete: _, ...line } = value as Record<string, unknown>
  return { ...line, [found.name]: found.items.filter((item) => item !== found.item) }
}

/** Returns the item's index in the original line, from 0. */
function placeIn(whole: unknown, value: unknown, problem: string, kinds: readonly AnyKind[]): number {
  const { name, item } = itemOf(value, problem, kinds) as { name: string; item: unknown }
  const items = (whole as Record<string, unknown[]>)[name] as unknown[]
  const text = JSON.stringify(item)
  return items.findIndex((each) => JSON.stringify(withoutOdd(each)) === text)
}

function lineIn(text: string): unknown {
  if (text.length > LONGEST) throw new LineProblem("the line has more than 1,000,000 characters")
  return jsonOf(text)
}

function parseValue(value: unknown, text: string, kinds: readonly AnyKind[]): ParsedLine {
  const name = kindIn(value)
  const kind = name === "attempt" ? null : kindNamed(name, kinds)
  if (kind === undefined) throw new LineProblem(`kind: must be one of ${namesOf(kinds).join(", ")}`)
  const line = checkedLine(kind?.lineShape ?? ATTEMPT, kind?.distinguishesNull ? value : withoutOdd(value))
  // every key is now known to be one of ours, so the message may name it
  const doubled = doubledKey(text)
  if (doubled !== null) throw new LineProblem(`${doubled}: occurs twice in its object`)
  if (kind === null) return { kind: "attempt", attempt: attemptOf(line as AttemptLine) }
  const observation = kind.readLine(line, text)
  return { kind: "observation", observation: kind.completed?.(observation) ?? observation }
}

const LONGEST = 1_000_000

/** Lists whose items are identified by their id. */
const LISTS_BY_ID = new Set(["reviews", "results", "apps", "similar", "moreByDeveloper"])

/** Returns the JSON value without null properties and without duplicate list items. */
function withoutOdd(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutOdd(item))
    if (name === "terms") return uniqueBy(items, (item) => (typeof item === "string" ? normaliseTerm(item) : null))
    return LISTS_BY_ID.has(name) ? uniqueBy(items, (item) => idOf(item)) : items
  }
  if (typeof value !== "object" || value === null) return value
  const present = Object.entries(value).filter(([, part]) => part !== null)
  return Object.fromEntries(present.map(([key, part]) => [key, withoutOdd(part, key)]))
}

/** Returns the first item of each key, and all items whose key is null. */
function uniqueBy(items: readonly unknown[], keyOf: (item: unknown) => string | null): unknown[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item)
    if (key === null) return true
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function idOf(item: unknown): string | null {
  const { id } = (typeof item === "object" && item !== null ? item : {}) as { id?: unknown }
  return typeof id === "string" ? id : null
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new LineProblem("the line is not JSON")
  }
}

function kindIn(value: unknown): unknown {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  if (!isObject) throw new LineProblem("the line is not a JSON object")
  return (value as { kind?: unknown }).kind
}

function namesOf(kinds: readonly AnyKind[]): string[] {
  const [first, ...rest] = kinds.map(({ name }) => name)
  return [first as string, "attempt", ...rest]
}

function checkedLine(shape: v.GenericSchema, value: unknown): unknown {
  const result = v.safeParse(shape, value, { abortEarly: true })
  if (!result.success) throw new LineProblem(reasonOf(result.issues[0]))
  return result.output
}

function reasonOf(issue: v.BaseIssue<unknown>): string {
  const { path = [] } = issue
  const named = path.map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("")
  const field = named.replace(/^\./, "")
  if (issue.type !== "strict_object") return `${field}: ${issue.message}`
  if (issue.expected === "never") return `${field.replace(/\.?[^.]*$/, "") || "the line"}: has an unknown field`
  return issue.received === "undefined" ? `${field}: is missing` : `${field}: must be an object`
}

const ATTEMPT = v.strictObject({
  kind: v.literal("attempt"),
  source: RankSource,
  platform: PlatformName,
  storefront: Country,
  term: Text,
  at: Moment,
  outcome: v.picklist(OUTCOMES, `must be one of ${OUTCOMES.join(", ")}`),
  detail: Fact,
})

type AttemptLine = v.InferOutput<typeof ATTEMPT>

function attemptOf({ term, storefront, detail, ...rest }: AttemptLine): Attempt {
  return {
    ...rest,
    kind: "search",
    storefront: storefront.toLowerCase(),
    subject: normaliseTerm(term),
    ...(detail !== undefined && { detail }),
  }
}
