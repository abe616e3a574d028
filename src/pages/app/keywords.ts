import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { sidesOf } from "../../keywords/read/day-answers.ts"
import {
  ORDERS,
  type RankedKeyword,
  type RankedPageQuery,
  readRankedPage,
  STATES,
} from "../../keywords/read/ranked-page.ts"
import { dayOf } from "../../lib/days.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Rank, Store, Storefront, Time } from "../../lib/shapes.ts"
import { NOT_MEASURING } from "../../measuring/readers.ts"
import { AppHead, headOf } from "./apps.ts"

/**
 * Rows per page. A page requests the days of its rows together with those of the best keywords, and a request takes at
 * most a hundred keywords.
 */
const ROWS = 90

/** Number of best keywords in the combined chart. */
const BEST = 5

type Side = Pick<RankedPageQuery, "platform" | "storefront">

const Row = v.strictObject({
  term: v.string(),
  measured: v.boolean(),
  rank: described(v.nullable(Rank), "Null with measured true: absent from the results read."),
  searchDepth: v.nullable(Rank),
  popularity: v.nullable(v.number()),
  popularityLow: described(v.nullable(v.number()), "The low end of an estimate's band. Null without an estimate."),
  popularityHigh: v.nullable(v.number()),
  popularitySource: v.nullable(v.string()),
  difficulty: v.nullable(v.number()),
  difficultyBand: v.nullable(v.string()),
  measuring: v.boolean(),
  notMeasuring: v.nullable(v.picklist(Object.keys(NOT_MEASURING))),
})

export const listKeywordRows = operation({
  id: "list_keyword_rows",
  method: "GET",
  path: "/page/:appId/keywords",
  group: "Your apps",
  toolset: "keywords",
  summary: "A page of an app's keywords, and the totals of all its keywords.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({
    at: described(
      v.optional(v.pipe(v.string(), v.maxLength(20))),
      "Storefront and store, such as us-ios. Default, also for one that the app does not track: the app's first.",
    ),
    find: v.optional(v.pipe(v.string(), v.maxLength(150))),
    tag: v.optional(v.pipe(v.string(), v.maxLength(150))),
    move: v.optional(v.picklist(STATES)),
    order: v.optional(v.picklist(ORDERS)),
    page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))),
  }),
  output: v.strictObject({
    app: AppHead,
    country: Storefront,
    platform: Store,
    totals: v.strictObject({
      day: described(v.nullable(Day), "The latest day on which a keyword was measured. Null if never."),
      measuredAt: v.nullable(Time),
      tracked: Count,
      measured: Count,
      top3: Count,
      top10: Count,
      top50: Count,
      best: v.nullable(Rank),
    }),
    found: described(Count, "Number of keywords that match."),
    page: Count,
    pages: Count,
    rows: v.array(Row),
    best: described(v.array(Row), `The ${BEST} best of all keywords, whatever the filters.`),
  }),
}).run(async ({ app, at, find = "", tag, move, order = "rank", page = 1 }, { sql, now }) => {
  const terms = tag === undefined ? null : termsTagged(app, tag)
  const { platform, storefront } = sideAt(app, at)
  const ranked = await readRankedPage(sql, app, {
    platform,
    storefront,
    terms,
    order,
    page,
    most: ROWS,
    best: BEST,
    today: dayOf(now()),
    find: find.trim().toLowerCase(),
    state: move ?? null,
  })
  const pages = Math.max(1, Math.ceil(ranked.found / ROWS))
  return {
    app: headOf(app),
    country: storefront,
    platform,
    totals: ranked.totals,
    found: ranked.found,
    pages,
    page: Math.min(page, pages),
    rows: ranked.rows.map(rowOf),
    best: ranked.best.map(rowOf),
  }
})

/** Returns the requested side or, if it does not exist, the first one. The App Store comes first, as on every page. */
function sideAt(app: TrackedApp, at: string | undefined): Side {
  const sides = sidesOf(app).sort((a, b) => Number(a.platform === "android") - Number(b.platform === "android"))
  return sides.find(({ storefront, platform }) => `${storefront}-${platform}` === at) ?? (sides[0] as Side)
}

function termsTagged({ keywordTags }: TrackedApp, tag: string): string[] {
  return Object.entries(keywordTags ?? {}).flatMap(([term, tags]) => (tags.includes(tag) ? [term] : []))
}

function rowOf({ term, measured, rank, depth, figures, underWay }: RankedKeyword): v.InferInput<typeof Row> {
  const { popularity, popularityLow, popularityHigh, popularitySource, difficulty, difficultyBand } = figures
  const { measuring, notMeasuring } = underWay
  return {
    term,
    measured,
    rank,
    searchDepth: depth,
    popularity,
    popularityLow,
    popularityHigh,
    popularitySource,
    difficulty,
    difficultyBand,
    measuring,
    notMeasuring,
  }
}
