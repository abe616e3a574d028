import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
import { LEAST_RESULTS } from "../../formulas/difficulty.ts"
import { AT_FLOOR, CHECKED } from "../../formulas/popularity.ts"
import { trackedLists } from "../../history/keywords/tracked-lists.ts"
import { latest, type RankRow, readRanksOn, type SideRanks, type TermRank, termRank } from "../../history/ranks.ts"
import { type Reader, readersQuery, readingBy } from "../../history/readers.ts"
import {
  dueCodeOf,
  findKeywordsUnderWay,
  type KeywordUnderWay,
  NOT_SCHEDULED,
  underWayBy,
} from "../../history/under-way.ts"
import {
  figures,
  figuresOf,
  type KeywordMetrics,
  type MetricsRow,
  metricsOf,
  shownFigures,
  UNMEASURED,
} from "../../observations/derived/keyword-figures.ts"
import { readMetricsOfLists } from "../../observations/derived/keyword-metrics.ts"
import type { Side } from "../../observations/provenance.ts"
import { ownId, type RankedApp } from "../../observations/types.ts"
import { ofApp, operation } from "../../operation.ts"
import { dayOf } from "../../vocabulary/days.ts"
import { AppCountry, Platform } from "../../vocabulary/fields.ts"
import { described, named } from "../../vocabulary/schema.ts"
import {
  Count,
  DifficultyBand,
  PopularitySource,
  Rank,
  RankSource,
  Store,
  Storefront,
  Time,
  WhyNotMeasuring,
} from "../shapes.ts"
import { AdsPopularity, adsPopularityInput, readAdsPopularity } from "./ads-popularity.ts"

const Keyword = named(
  "Keyword",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    measured: described(v.boolean(), "False = nobody read this keyword's results on the day shown."),
    rank: described(v.nullable(Rank), "Null with measured true = the app was not among the results read."),
    measuredAt: described(
      v.nullable(Time),
      "When its results of the day shown were seen; null where measured is false.",
    ),
    source: described(v.nullable(RankSource), "Who read them; null where measured is false."),
    demand: described(
      v.nullable(v.number()),
      "0 to 100, from the rating counts of the first ten results there. Null = not measured yet, or no result. Google Play's search counts those of the app on its card alone: there it is null unless enough of the ten are tracked or rivals.",
    ),
    demandAt: described(
      v.nullable(Time),
      "When the youngest reading behind the demand was seen; null = none is young enough.",
    ),
    hintCount: described(
      v.nullable(Count),
      "How many of the store's suggestions for the keyword, fully typed, begin with it and go on. Null = not measured yet.",
    ),
    hintCountAt: described(
      v.nullable(Time),
      "When the youngest reading behind it was seen; null = none is young enough.",
    ),
    popularity: described(
      v.nullable(v.number()),
      "1 to 100, as Apple's monthly report says it. Null = not published: an estimate is a band (popularityLow, popularityHigh), or there is none.",
    ),
    popularityLow: described(
      v.nullable(v.number()),
      `Of an estimate: where it lies on Apple Ads' other scale (5 to 100, most terms at 5 to 9), with popularityHigh. Bands drawn on one half of ${CHECKED.terms} terms of the United States hold ${Math.round(100 * CHECKED.held)} of 100 of the other; other storefronts were not checked. ${AT_FLOOR} No number can be given: the order of the scores behind it goes with Apple's at ${CHECKED.correlation}. Null = no estimate.`,
    ),
    popularityHigh: described(
      v.nullable(v.number()),
      "The high end of the band, included. Null where popularityLow is.",
    ),
    popularitySource: described(
      v.nullable(PopularitySource),
      "apple-ads-report = Apple's own monthly figure; estimate = a band, calculated from ratings and suggestions. Null = neither.",
    ),
    popularityWeek: described(
      v.nullable(v.string()),
      "The period that Apple's figure stands for: its report is of a month, YYYY-MM. Null for an estimate.",
    ),
    popularityNone: described(
      v.boolean(),
      "Measured, and neither results nor suggestions give a popularity; so is every keyword of Google Play, whose searches nobody publishes.",
    ),
    popularityAt: described(
      v.nullable(Time),
      "Of an estimate: when the youngest reading behind it was seen. Of Apple's figure: when its report was. Null = neither.",
    ),
    difficulty: described(
      v.nullable(v.number()),
      "0 to 100, the higher the harder. Null = not measured yet, or none can be given (difficultyNone).",
    ),
    difficultyBand: described(v.nullable(DifficultyBand), "A fifth of the scale each; null where difficulty is null."),
    difficultyNone: described(
      v.boolean(),
      `Measured, with fewer than ${LEAST_RESULTS} results: too few for a difficulty.`,
    ),
    difficultyAt: described(
      v.nullable(Time),
      "When the youngest reading behind it was seen; null = none is young enough.",
    ),
    popularityMeasuring: described(v.boolean(), "A measurement of the popularity is under way, or next."),
    popularityNotMeasuring: described(
      WhyNotMeasuring,
      "Why popularityMeasuring is false, as notMeasuring; null where it is true.",
    ),
    difficultyMeasuring: described(v.boolean(), "A measurement of the difficulty is under way, or next."),
    difficultyNotMeasuring: described(
      WhyNotMeasuring,
      "Why difficultyMeasuring is false, as notMeasuring; null where it is true.",
    ),
    measuring: described(
      v.boolean(),
      "A measurement of the rank is under way, or next: something reads this store and storefront now. False = nothing will come while notMeasuring stands.",
    ),
    notMeasuring: described(WhyNotMeasuring, "Why measuring is false; null where it is true."),
    searchDepth: described(v.nullable(Rank), "How many places were read; null where measured is false."),
  }),
)

export const listKeywordRanks = operation({
  id: "list_keyword_ranks",
  method: "GET",
  path: "/apps/:appId/keywords",
  group: "Your apps",
  toolset: "keywords",
  summary: "The latest rank of every tracked keyword.",
  description:
    "Three states: measured false = not measured that day; measured true and rank null = absent from the results read; a number = the rank. The day shown is the latest on which any of the keywords was measured; get_rank_history has the days before.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    adsPopularity: adsPopularityInput,
  }),
  narrow: { rows: ["keywords"] },
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    live: described(v.boolean(), "The day shown is today (UTC)."),
    measuredAt: described(v.nullable(Time), "When the latest of the day's results was seen; null = never measured."),
    keywords: described(v.array(Keyword), "Every tracked keyword, in its order."),
    adsPopularity: AdsPopularity,
  }),
  table: { columns: Object.keys(Keyword.entries), rows: ({ keywords }) => keywords },
}).run(async ({ app, storefront, platform, adsPopularity }, ctx) => {
  const side = { storefront, platform }
  const today = dayOf(ctx.now())
  const { day, measuredAt, keywords } = await readKeywordsNow(ctx.sql, app, side, today)
  const withAds = adsPopularity === true && platform === "ios"
  const terms = keywords.map(({ rank }) => rank.term)
  return {
    country: storefront,
    platform,
    live: day === today,
    measuredAt: measuredAt?.toISOString() ?? null,
    keywords: keywords.map(keywordOf),
    adsPopularity: withAds ? await readAdsPopularity(terms, storefront, ctx) : null,
  }
})

function keywordOf({ rank, metrics, underWay }: KeywordNow): v.InferInput<typeof Keyword> {
  const { term, measured, depth, source, seenAt } = rank
  return {
    term,
    measured,
    rank: rank.rank,
    measuredAt: seenAt?.toISOString() ?? null,
    source,
    ...shownFigures(metrics),
    ...underWay,
    searchDepth: depth,
  }
}

interface KeywordNow {
  rank: TermRank
  metrics: KeywordMetrics
  underWay: KeywordUnderWay
}

/** In the app's order. */
type KeywordsNow = Pick<SideRanks, "day" | "measuredAt"> & { keywords: KeywordNow[] }

/** Keywords that are read with their figures in one statement: some 10 ms on the embedded database. */
const PIECE = 300

type KeywordRow = RankRow & MetricsRow & { readers: Reader[] | null; dueCode: number | null }

/** Where each keyword stands, its figures, and what of it is being measured. One statement, two for each further piece. */
async function readKeywordsNow(sql: Sql, app: RankedApp, side: Side, today: string): Promise<KeywordsNow> {
  const own = ownId(app, side)
  if (own === null) return unmeasured((await readRanksOn(sql, app, [side]))[0] as SideRanks)
  const rows = await readFirst(sql, app, side, own)
  const first = rows.slice(0, PIECE)
  const underWay = underWayBy(side, readingBy(first[0]?.readers ?? []))
  const keywords = first.map((row) => ({
    rank: termRank(row),
    metrics: row.listId === null ? UNMEASURED : metricsOf(row, side.platform, today),
    underWay: underWay(row.dueCode ?? 0),
  }))
  for (let from = PIECE; from < rows.length; from += PIECE) {
    keywords.push(...(await readPiece(sql, rows.slice(from, from + PIECE), side, today)))
  }
  return { day: rows[0]?.day ?? null, measuredAt: latest(rows), keywords }
}

async function readFirst(sql: Sql, app: RankedApp, { platform, storefront }: Side, own: number): Promise<KeywordRow[]> {
  return await sql<KeywordRow[]>`
    with term as materialized (
      select k.*, max(k.last_day) over () as day, row_number() over (order by k.position, k.term) as n
      from (${trackedLists(sql, { appId: app.id, platform, storefront, own })}) k
    )
    select t.term, t.day, t.list_id as "listId", r.source, r.depth, r.seen_at as "seenAt", r.rank, ${figures(sql)},
      d.code as "dueCode", case when t.n = 1 then (select json_agg(r) from (${readersQuery(sql)}) r) end as readers
    from term t
    left join lateral (select t.source, t.depth, t.seen_at, t.rank where t.last_day = t.day) r on true
    left join lateral (${figuresOf(sql, sql`t.n <= ${PIECE}`)}) n on true
    left join lateral (
      ${dueCodeOf(sql, { platform, storefront }, sql`t.term`)}
    ) d on t.n <= ${PIECE}
    order by t.n
    limit 100000`.then(uncut(100_000))
}

async function readPiece(sql: Sql, rows: KeywordRow[], side: Side, today: string): Promise<KeywordNow[]> {
  const metrics = await readMetricsOfLists(
    sql,
    rows.flatMap(({ listId }) => listId ?? []),
    { platform: side.platform, today },
  )
  const underWay = await findKeywordsUnderWay(sql, { ...side, terms: rows.map(({ term }) => term) })
  return rows.map((row) => ({
    rank: termRank(row),
    metrics: metrics.get(row.listId ?? 0) ?? UNMEASURED,
    underWay: underWay.get(row.term) ?? NOT_SCHEDULED,
  }))
}

function unmeasured({ day, measuredAt, terms }: SideRanks): KeywordsNow {
  return { day, measuredAt, keywords: terms.map((rank) => ({ rank, metrics: UNMEASURED, underWay: NOT_SCHEDULED })) }
}
