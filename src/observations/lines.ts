import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import * as v from "valibot"
import { normaliseTerm } from "../formulas/term.ts"
import { type Attempt, type Observation, OUTCOMES, RANK_SOURCES } from "./types.ts"

/** Why a line cannot be read, in one sentence that names the field and quotes nothing of the line. */
export class LineProblem extends Error {
  override name = "LineProblem"
}

export type Parsed = { kind: "observation"; observation: Observation } | { kind: "attempt"; attempt: Attempt }

/**
 * Reads one line of an import file: a JSON object, either a reading of search results
 *
 *     {"kind":"search","source":"import","platform":"ios","storefront":"us","term":"photo editor",
 *      "seenAt":"2025-10-25T03:25:01.530Z","results":[{"id":"897446215","name":"Canva"},{"id":"1617391485"}]}
 *
 * or a read that failed, which is logged and leaves its day unmeasured
 *
 *     {"kind":"attempt","source":"import","platform":"ios","storefront":"us","term":"photo editor",
 *      "at":"2025-10-25T03:25:01Z","outcome":"blocked","detail":"status 403"}
 *
 * A reading says `source` (apple-web-search, apple-store-search, play-search, import or foreign), `platform` (ios or
 * android), `storefront` (two letters), `term` (1 to 150 characters, normalised here), `seenAt` (ISO 8601 with its zone)
 * and `results` in the order shown, each with its store `id` and, where shown, `name`, `icon`, `developer`, `bundleId`,
 * `ratings` (a count) and `rating` (0 to 5). It may say `depth` (places read, 1 to 250; without it as many as there are
 * results, so an empty reading must give it), `complete` (false when it broke off; such a reading answers no day),
 * `parser` (version, default 1), `origin` (who brought it, default "own"), `egress` (country it was read from) and
 * `sha256` (of the raw body, 64 hex digits; without it, that of the trimmed line). An attempt's `outcome` is blocked,
 * rate_limited, not_found, changed or failed. Other fields are refused. Throws LineProblem.
 */
export function parseLine(text: string): Parsed {
  if (text.length > LONGEST) throw new LineProblem("the line has more than 1,000,000 characters")
  const line = checked(jsonOf(text))
  const { term, storefront } = line
  const subject = { storefront: storefront.toLowerCase(), source: line.source, platform: line.platform }
  if (line.kind === "attempt") {
    const { at, outcome, detail } = line
    const attempt = { ...subject, kind: "search" as const, subject: normaliseTerm(term), at: new Date(at), outcome }
    return { kind: "attempt", attempt: { ...attempt, ...(detail !== undefined && { detail }) } }
  }
  const { results, complete, parser, origin, egress, sha256, depth = results.length } = line
  if (depth === 0) throw new LineProblem("depth: must be given when results is empty")
  const observation: Observation = {
    ...subject,
    kind: "search",
    term: normaliseTerm(term),
    seenAt: new Date(line.seenAt),
    results: results as Observation["results"],
    depth,
    complete,
    parser,
    origin,
    ...(egress !== undefined && { egress: egress.toLowerCase() }),
    sha256: sha256 === undefined ? hash("sha256", text.trim(), "buffer") : Buffer.from(sha256, "hex"),
  }
  return { kind: "observation", observation }
}

const LONGEST = 1_000_000

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new LineProblem("the line is not JSON")
  }
}

const ITUNES = "itunes-search"
const Fact = v.optional(v.string("must be text"))
const Country = v.pipe(v.string("must be text"), v.regex(/^[A-Za-z]{2}$/, "must be two letters"))
const Whole = v.pipe(v.number("must be a number"), v.integer("must be a whole number"))
const Moment = v.pipe(
  v.string("must be text"),
  v.isoTimestamp("must be an ISO 8601 time with its zone"),
  v.check(isRealDay, "is no day of the calendar"),
)

const Subject = {
  source: v.pipe(
    v.string("must be text"),
    v.check(
      (source) => source !== ITUNES,
      "the iTunes Search API is no rank source: its order is not the order a phone shows",
    ),
    v.picklist(RANK_SOURCES, `must be one of ${RANK_SOURCES.join(", ")}`),
  ),
  platform: v.picklist(["ios", "android"], "must be ios or android"),
  storefront: Country,
  term: v.string("must be text"),
}

const Search = v.strictObject({
  kind: v.literal("search"),
  ...Subject,
  seenAt: Moment,
  results: v.array(
    v.strictObject({
      id: v.string("must be text"),
      name: Fact,
      icon: Fact,
      developer: Fact,
      bundleId: Fact,
      ratings: v.optional(Whole),
      rating: v.optional(v.number("must be a number")),
    }),
    "must be a list",
  ),
  depth: v.optional(Whole),
  complete: v.optional(v.boolean("must be true or false"), true),
  parser: v.optional(Whole, 1),
  origin: v.optional(v.string("must be text"), "own"),
  egress: v.optional(Country),
  sha256: v.optional(v.pipe(v.string("must be text"), v.regex(/^[0-9a-f]{64}$/i, "must be 64 hex digits"))),
})

const FailedRead = v.strictObject({
  kind: v.literal("attempt"),
  ...Subject,
  at: Moment,
  outcome: v.picklist(OUTCOMES, `must be one of ${OUTCOMES.join(", ")}`),
  detail: Fact,
})

function checked(value: unknown): v.InferOutput<typeof Search> | v.InferOutput<typeof FailedRead> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new LineProblem("the line is not a JSON object")
  }
  const { kind } = value as { kind?: unknown }
  if (kind !== "search" && kind !== "attempt") throw new LineProblem("kind: must be search or attempt")
  const result = v.safeParse(kind === "search" ? Search : FailedRead, value, { abortEarly: true })
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

// The shape alone lets 30 February pass, which Date would silently move.
function isRealDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split("-").map(Number) as [number, number, number]
  return new Date(Date.UTC(year, month, 0)).getUTCDate() >= day
}
