import * as v from "valibot"
import type { AnyKind } from "../../core/kind.ts"
import { type Attempt, OUTCOMES } from "../../core/observation/attempt.ts"
import { ObservationProblem } from "../../core/observation/invariants.ts"
import { Country, Fact, Moment, PlatformName, RankSource, Text } from "../../core/observation/line-parts.ts"
import { LineProblem } from "../../core/observation/line-problem.ts"
import type { Observation } from "../../kinds.ts"
import { KINDS, kindNamed } from "../../kinds.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { withPages } from "../../stores/kinds/pages-in-look-ups.ts"
import { doubledKey } from "./json-keys.ts"

export { LineProblem }

export type ParsedLine = { kind: "observation"; observation: Observation } | { kind: "attempt"; attempt: Attempt }

/**
 * Reads one line of an import file: a JSON object of a kind of observation, whose fields and example stand in its file
 * (kinds/), or a read that failed, which is logged and leaves its day unmeasured:
 *
 *     {"kind":"attempt","source":"import","platform":"ios","storefront":"us","term":"photo editor",
 *      "at":"2025-10-25T03:25:01Z","outcome":"blocked","detail":"status 403"}
 *
 * All but an app-ads.txt say `storefront` (two letters) and, but for a popularity, `source`, `platform` (ios or android)
 * and `seenAt` (ISO 8601 with its zone). Terms are normalised. All may say `parser` (version, default 1), `origin` (who
 * brought it, default "own"), `egress` (country it was read from) and `sha256` (of the raw body, 64 hex digits; without it,
 * that of the trimmed line). An attempt, which says none of these, has a search's source and an `outcome`.
 *
 * A search or chart without `depth` was read as far as its list goes, so an empty one must give it; without `complete` it did
 * not break off. Reviews without `complete` say nothing of how far the reading came, so an empty reading must say it. A
 * popularity without `seenAt` was seen when its month ended, the first moment it could be. An app of a look-up without
 * `listing` has an empty one, so that changes follow from it as from a live look-up.
 *
 * A text that says nothing where none is needed is taken for none, and so is null. Of a review, an app or a term that
 * stands twice in a list the first is taken, as readers of the stores do. Other fields are refused, and a key that stands twice;
 * what no store can say is refused when it is recorded (app-facts.ts). Throws LineProblem.
 */
export function parseLine(text: string, kinds: readonly AnyKind[] = KINDS): ParsedLine {
  return parseValue(lineIn(text), text, kinds)
}

/** As parseLine, without the items that are invalid: `skipped` has the reason for each, naming its place in the line. */
export function parseSound(
  text: string,
  now: Date,
  kinds: readonly AnyKind[] = KINDS,
): { parsed: ParsedLine; skipped: string[] } {
  const whole = lineIn(text)
  const skipped: string[] = []
  for (let value = whole; ; ) {
    try {
      const parsed = parseValue(value, text, kinds)
      const { observation } = parsed as { observation?: Observation }
      if (observation && hasUnordered(value)) kindNamed(observation.kind, kinds)?.check(observation, now)
      return { parsed, skipped }
    } catch (error) {
      if (!(error instanceof LineProblem || error instanceof ObservationProblem)) throw error
      const rest = skipped.length < MOST_SKIPPED ? withoutItem(value, error.message) : null
      if (rest === null) throw skipped.length > 0 ? new LineProblem(skipped[0] as string) : error
      skipped.push(error.message.replace(/\[\d+\]/, `[${placeIn(whole, value, error.message)}]`))
      value = rest
    }
  }
}

/** Lists whose order has no meaning, by kind: an invalid item says nothing of the others. A ranked list is taken whole. */
const UNORDERED: Record<string, string> = { reviews: "reviews", apps: "apps" }
/** A line with more invalid items than this is refused as a whole. */
const MOST_SKIPPED = 20

function hasUnordered(value: unknown): boolean {
  return UNORDERED[String((value as { kind?: unknown } | null)?.kind)] !== undefined
}

/** The item that a problem names, in the list as parsed. */
function itemOf(value: unknown, problem: string): { name: string; items: unknown[]; item: unknown } | null {
  if (!hasUnordered(value)) return null
  const line = withoutOdd(value) as Record<string, unknown>
  const name = UNORDERED[line.kind as string] as string
  const items = line[name]
  const [, list, place] = /^(\w+)\[(\d+)\]/.exec(problem) ?? []
  if (list !== name || !Array.isArray(items)) return null
  return { name, items, item: items[Number(place)] }
}

/** The line without that item. Nothing may be called complete without it. Null if no item is named or none is left. */
function withoutItem(value: unknown, problem: string): unknown {
  const found = itemOf(value, problem)
  if (found === null || found.items.length < 2) return null
  const { complete: _, ...line } = value as Record<string, unknown>
  return { ...line, [found.name]: found.items.filter((item) => item !== found.item) }
}

/** Where the item stands in the line as it came, from 0. */
function placeIn(whole: unknown, value: unknown, problem: string): number {
  const { name, item } = itemOf(value, problem) as { name: string; item: unknown }
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
  const line = checkedLine(kind?.lineShape ?? ATTEMPT, kind === APP_ADS ? value : withoutOdd(value))
  // every key is one of ours by now, so that it can be named
  const doubled = doubledKey(text)
  if (doubled !== null) throw new LineProblem(`${doubled}: stands twice in its object`)
  if (kind === null) return { kind: "attempt", attempt: attemptOf(line as AttemptLine) }
  const observation = kind.readLine(line, text) as Observation
  return { kind: "observation", observation: observation.kind === "apps" ? withPages(observation) : observation }
}

const LONGEST = 1_000_000

/** Its `site` is null where the developer names none, which is not the same as unknown. */
const APP_ADS = kindNamed("app_ads", KINDS)

/** Lists whose items are known by their id. */
const LISTS_BY_ID = new Set(["reviews", "results", "apps", "similar", "moreByDeveloper"])

/** JSON without properties that are null, and without items that stand twice in a list. */
function withoutOdd(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutOdd(item))
    if (name === "terms") return uniqueBy(items, (item) => (typeof item === "string" ? normaliseTerm(item) : null))
    return LISTS_BY_ID.has(name) ? uniqueBy(items, (item) => idOf(item)) : items
  }
  if (typeof value !== "object" || value === null) return value
  const known = Object.entries(value).filter(([, part]) => part !== null)
  return Object.fromEntries(known.map(([key, part]) => [key, withoutOdd(part, key)]))
}

/** The first of each key; all items whose key is null. */
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
  const [first, ...others] = kinds.map(({ name }) => name)
  return [first as string, "attempt", ...others]
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
  if (issue.expected === "never")
    return `${field.replace(/\.?[^.]*$/, "") || "the line"}: holds a field that is not known`
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
