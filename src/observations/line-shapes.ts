import * as v from "valibot"
import {
  App,
  Country,
  Fact,
  ListingShape,
  LookedUpApp,
  list,
  Moment,
  Platform,
  Provenance,
  RankSource,
  SoldApp,
  Text,
  Whole,
} from "./line-parts.ts"
import {
  APP_ADS_STATES,
  APP_ADS_VARIABLES,
  APPS_SOURCES,
  CHART_SOURCES,
  CHARTS,
  DEVICES,
  HINTS_SOURCES,
  LISTING_SOURCES,
  OUTCOMES,
  REVIEWS_SOURCES,
} from "./types.ts"

/** Why a line cannot be read, in one sentence that names the field and quotes nothing of the line. */
export class LineProblem extends Error {
  override name = "LineProblem"
}

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
    apps: list(LookedUpApp),
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
    apps: list(v.strictObject(SoldApp)),
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
  listing: v.strictObject({
    kind: v.literal("listing"),
    source: v.picklist(LISTING_SOURCES, `must be one of ${LISTING_SOURCES.join(", ")}`),
    platform: Platform,
    storefront: Country,
    id: Text,
    seenAt: Moment,
    listing: ListingShape,
    ...Provenance,
  }),
  genres: v.strictObject({
    kind: v.literal("genres"),
    source: v.literal("apple-genres", "must be apple-genres"),
    platform: Platform,
    storefront: Country,
    seenAt: Moment,
    genres: list(v.strictObject({ id: Text, name: Text, parent: Fact })),
    ...Provenance,
  }),
  developer: v.strictObject({
    kind: v.literal("developer"),
    source: v.literal("itunes-developer", "must be itunes-developer"),
    platform: Platform,
    storefront: Country,
    developerId: Text,
    seenAt: Moment,
    apps: list(LookedUpApp),
    complete: v.boolean("must be true or false"),
    ...Provenance,
  }),
  app_ads: v.strictObject({
    kind: v.literal("app_ads"),
    source: v.literal("app-ads-txt", "must be app-ads-txt"),
    platform: Platform,
    id: Text,
    seenAt: Moment,
    domain: v.nullable(Text),
    state: v.picklist(APP_ADS_STATES, `must be one of ${APP_ADS_STATES.join(", ")}`),
    records: list(
      v.strictObject({
        system: Text,
        publisherId: Text,
        relation: v.picklist(["DIRECT", "RESELLER"], "must be DIRECT or RESELLER"),
        certId: Fact,
      }),
    ),
    variables: v.strictObject(Object.fromEntries(APP_ADS_VARIABLES.map((name) => [name, v.optional(list(Text))]))),
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
    throw new LineProblem(`kind: must be one of ${Object.keys(SHAPES).join(", ")}`)
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
