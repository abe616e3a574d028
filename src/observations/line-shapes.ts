import * as v from "valibot"
import {
  APPS_SOURCES,
  CHART_SOURCES,
  CHARTS,
  DEVICES,
  HINTS_SOURCES,
  OUTCOMES,
  RANK_SOURCES,
  REVIEWS_SOURCES,
} from "./types.ts"

/** Why a line cannot be read, in one sentence that names the field and quotes nothing of the line. */
export class LineProblem extends Error {
  override name = "LineProblem"
}

const Text = v.string("must be text")
const Fact = v.optional(Text)
const Country = v.pipe(Text, v.regex(/^[A-Za-z]{2}$/, "must be two letters"))
const Figure = v.number("must be a number")
const Whole = v.pipe(Figure, v.integer("must be a whole number"))
const Moment = v.pipe(
  Text,
  v.isoTimestamp("must be an ISO 8601 time with its zone"),
  v.check(isRealDay, "is no day of the calendar"),
)
const Platform = v.picklist(["ios", "android"], "must be ios or android")

const RankSource = v.pipe(
  Text,
  v.check(
    (source) => source !== "itunes-search",
    "the iTunes Search API is no rank source: its order is not the order a phone shows",
  ),
  v.picklist(RANK_SOURCES, `must be one of ${RANK_SOURCES.join(", ")}`),
)

const Provenance = {
  parser: v.optional(Whole, 1),
  origin: v.optional(Text, "own"),
  egress: v.optional(Country),
  sha256: v.optional(v.pipe(Text, v.regex(/^[0-9a-f]{64}$/i, "must be 64 hex digits"))),
}

const App = {
  id: Text,
  name: Fact,
  icon: Fact,
  developer: Fact,
  bundleId: Fact,
  ratings: v.optional(Whole),
  rating: v.optional(Figure),
}

const list = <Item extends v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>>(item: Item) =>
  v.array(item, "must be a list")

const SHAPES = {
  search: v.strictObject({
    kind: v.literal("search"),
    source: RankSource,
    platform: Platform,
    storefront: Country,
    term: Text,
    seenAt: Moment,
    results: list(v.strictObject(App)),
    depth: v.optional(Whole),
    complete: v.optional(v.boolean("must be true or false"), true),
    ...Provenance,
  }),
  attempt: v.strictObject({
    kind: v.literal("attempt"),
    source: RankSource,
    platform: Platform,
    storefront: Country,
    term: Text,
    at: Moment,
    outcome: v.picklist(OUTCOMES, `must be one of ${OUTCOMES.join(", ")}`),
    detail: Fact,
  }),
  apps: v.strictObject({
    kind: v.literal("apps"),
    source: v.picklist(APPS_SOURCES, `must be one of ${APPS_SOURCES.join(", ")}`),
    platform: Platform,
    storefront: Country,
    seenAt: Moment,
    asked: list(Text),
    apps: list(
      v.strictObject({
        ...App,
        version: Fact,
        price: v.optional(Figure),
        currency: Fact,
        genre: Fact,
        releasedAt: v.optional(Moment),
        updatedAt: v.optional(Moment),
      }),
    ),
    ...Provenance,
  }),
  chart: v.strictObject({
    kind: v.literal("chart"),
    source: v.picklist(CHART_SOURCES, `must be one of ${CHART_SOURCES.join(", ")}`),
    platform: Platform,
    storefront: Country,
    device: v.picklist(DEVICES, `must be ${DEVICES.join(" or ")}`),
    chart: v.picklist(CHARTS, `must be one of ${CHARTS.join(", ")}`),
    genre: Text,
    seenAt: Moment,
    apps: list(v.strictObject({ ...App, developerId: Fact, price: v.optional(Figure), currency: Fact, genre: Fact })),
    depth: v.optional(Whole),
    complete: v.optional(v.boolean("must be true or false"), true),
    ...Provenance,
  }),
  hints: v.strictObject({
    kind: v.literal("hints"),
    source: v.picklist(HINTS_SOURCES, `must be one of ${HINTS_SOURCES.join(", ")}`),
    platform: Platform,
    storefront: Country,
    prefix: Text,
    seenAt: Moment,
    terms: list(Text),
    ...Provenance,
  }),
  reviews: v.strictObject({
    kind: v.literal("reviews"),
    source: v.picklist(REVIEWS_SOURCES, `must be one of ${REVIEWS_SOURCES.join(", ")}`),
    platform: Platform,
    storefront: Country,
    language: Fact,
    storeId: Text,
    seenAt: Moment,
    reviews: list(v.strictObject({ id: Text, stars: Whole, title: Fact, text: Text, version: Fact, at: Moment })),
    pages: v.optional(Whole),
    complete: v.optional(v.boolean("must be true or false")),
    ...Provenance,
  }),
  popularity: v.strictObject({
    kind: v.literal("popularity"),
    storefront: Country,
    term: Text,
    month: v.pipe(Text, v.regex(/^\d{4}-(0[1-9]|1[0-2])$/, "must be a month, YYYY-MM")),
    popularity: Whole,
    genres: v.optional(list(v.strictObject({ genre: Text, rank: Whole, popularity: Whole })), () => []),
    seenAt: v.optional(Moment),
    ...Provenance,
  }),
}

type Shapes = typeof SHAPES

/** A line whose shape is right, by its kind. */
export type Line = { [Kind in keyof Shapes]: v.InferOutput<Shapes[Kind]> }[keyof Shapes]
export type LineOf<Kind extends keyof Shapes> = v.InferOutput<Shapes[Kind]>

/** Throws LineProblem unless the value has the shape of its kind, without any other field. */
export function checkedLine(value: unknown): Line {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new LineProblem("the line is not a JSON object")
  }
  const { kind } = value as { kind?: unknown }
  if (typeof kind !== "string" || !Object.hasOwn(SHAPES, kind))
    throw new LineProblem("kind: must be search, attempt, apps, chart, hints, reviews or popularity")
  const result = v.safeParse(SHAPES[kind as keyof Shapes], value, { abortEarly: true })
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
