import * as v from "valibot"
import type { Sql } from "../database/types.ts"
import { sideOf, sidesOf } from "../history/day-answers.ts"
import {
  ORDERS,
  type RankedKeyword,
  type RankedPage,
  type RankedPageQuery,
  type RankTotals,
  readRankedPage,
  STATES,
} from "../history/keywords/ranked-page.ts"
import { type LatestDay, readLatestDay } from "../history/keywords/standings.ts"
import { NOT_MEASURING } from "../history/readers.ts"
import { dayCounts, type TermDay } from "../history/side-days.ts"
import { ofApp, operation } from "../operation.ts"
import type { TrackedApp } from "../tracking/tracked-app.ts"
import { dayOf } from "../vocabulary/days.ts"
import { described } from "../vocabulary/schema.ts"
import { Count, Day, Rank, Store, Storefront, Time } from "../vocabulary/shapes.ts"
import { AppHead, headOf } from "./apps.ts"

/** Rows of a page: their days are asked for at once with those of the best, a hundred keywords at most. */
const ROWS = 90

/** Of all keywords, drawn together. */
const BEST = 5

type Side = Pick<RankedPageQuery, "platform" | "storefront">

const WAYS = ["up", "down"] as const
type Way = (typeof WAYS)[number]

const Row = v.strictObject({
  term: v.string(),
  measured: v.boolean(),
  rank: described(v.nullable(Rank), "Null with measured true = absent from the results read."),
  searchDepth: v.nullable(Rank),
  popularity: v.nullable(v.number()),
  popularityLow: described(v.nullable(v.number()), "Of an estimate: its band, in place of a popularity."),
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
  path: "/desk/:appId/keywords",
  group: "Your apps",
  toolset: "keywords",
  summary: "A page of an app's keywords, and what all of them come to.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({
    at: described(v.optional(v.pipe(v.string(), v.maxLength(20))), "us-ios; the app's first when it has no such side."),
    find: v.optional(v.pipe(v.string(), v.maxLength(150))),
    tag: v.optional(v.pipe(v.string(), v.maxLength(150))),
    move: v.optional(v.picklist([...WAYS, ...STATES])),
    order: v.optional(v.picklist(["change", ...ORDERS])),
    page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))),
  }),
  output: v.strictObject({
    app: AppHead,
    country: Storefront,
    platform: Store,
    totals: v.strictObject({
      day: described(v.nullable(Day), "The latest on which a keyword was measured; null = never."),
      measuredAt: v.nullable(Time),
      tracked: Count,
      measured: Count,
      top3: Count,
      top10: Count,
      top50: Count,
      best: v.nullable(Rank),
    }),
    found: described(Count, "How many fit."),
    page: Count,
    pages: Count,
    rows: v.array(Row),
    best: described(v.array(Row), `The ${BEST} best of all, whatever is asked for.`),
  }),
}).run(async ({ app, at, find = "", tag, move, order = "rank", page = 1 }, { sql, now }) => {
  const terms = tag === undefined ? null : termsTagged(app, tag)
  const { platform, storefront } = sideAt(app, at)
  const query = {
    ...{ platform, storefront, terms, page, most: ROWS, best: BEST, today: dayOf(now()) },
    find: find.trim().toLowerCase(),
  }
  const ranked =
    isWay(move) || order === "change"
      ? await readMovedPage(sql, app, query, isWay(move) ? move : null)
      : await readRankedPage(sql, app, { ...query, order, state: move ?? null })
  const pages = Math.max(1, Math.ceil(ranked.found / ROWS))
  return {
    ...{ app: headOf(app), country: storefront, platform, totals: ranked.totals, found: ranked.found },
    ...{ pages, page: Math.min(page, pages) },
    ...{ rows: ranked.rows.map(rowOf), best: ranked.best.map(rowOf) },
  }
})

/** The App Store's come first, as on every page. */
function sideAt(app: TrackedApp, at: string | undefined): Side {
  const sides = sidesOf(app).sort((a, b) => Number(a.platform === "android") - Number(b.platform === "android"))
  return sides.find(({ storefront, platform }) => `${storefront}-${platform}` === at) ?? (sides[0] as Side)
}

const isWay = (move: string | undefined): move is Way => move === "up" || move === "down"

function termsTagged({ keywordTags }: TrackedApp, tag: string): string[] {
  return Object.entries(keywordTags ?? {}).flatMap(([term, tags]) => (tags.includes(tag) ? [term] : []))
}

/** By what moved, which every keyword's days tell and no rank alone. */
async function readMovedPage(
  sql: Sql,
  app: TrackedApp,
  query: Omit<RankedPageQuery, "order" | "state" | "within">,
  way: Way | null,
): Promise<RankedPage> {
  const inOrder = { ...query, order: "rank", state: null } as const
  const latest = await readLatestDay(sql, sideOf(app, query), query.today)
  if (latest.day === null) {
    const all = await readRankedPage(sql, app, inOrder)
    return way === null ? all : { ...all, found: 0, rows: [] }
  }
  const { find, page, most } = query
  const fit = latest.terms
    .filter(({ term }) => term.includes(find) && (query.terms?.includes(term) ?? true))
    .filter(({ move }) => way === null || (move !== null && DIRECTIONS[way].includes(move.direction)))
    .sort((a, b) => gained(b) - gained(a))
    .map(({ term }) => term)
  const last = Math.max(1, Math.ceil(fit.length / most))
  const shown = fit.slice((Math.min(page, last) - 1) * most, Math.min(page, last) * most)
  const best = bestOf(latest, query.best)
  const within = { terms: [...new Set([...shown, ...best])], day: latest.day }
  const { rows } = await readRankedPage(sql, app, {
    ...{ ...inOrder, within, terms: null, find: "" },
    ...{ page: 1, most: within.terms.length, best: 0 },
  })
  const byTerm = new Map(rows.map((row) => [row.rank.term, row]))
  const rowsOf = (terms: readonly string[]) => terms.flatMap((term) => byTerm.get(term) ?? [])
  return { totals: totalsOf(latest), found: fit.length, rows: rowsOf(shown), best: rowsOf(best) }
}

function bestOf({ terms }: LatestDay, most: number): string[] {
  const ranked = terms.filter(({ rank }) => rank !== null).sort((a, b) => a.rank! - b.rank!)
  return ranked.slice(0, most).map(({ term }) => term)
}

function totalsOf({ day, measuredAt, terms }: LatestDay): RankTotals {
  const { tracked, measured, best } = dayCounts(terms)
  const upTo = (lowest: number) => terms.filter(({ rank }) => rank !== null && rank <= lowest).length
  return {
    ...{ day, measuredAt, tracked, measured, best },
    ...{ top3: upTo(3), top10: upTo(10), top50: upTo(50) },
  }
}

const DIRECTIONS: Record<Way, readonly string[]> = { up: ["up", "entered"], down: ["down", "dropped"] }

/** Places, as it were: what entered or dropped comes before any that moved within the ranks. */
function gained({ move, rank }: TermDay): number {
  if (move === null) return -500
  if (move.direction === "entered") return 300 - (rank ?? 0)
  if (move.direction === "dropped") return -300
  return (move.places ?? 0) * (move.direction === "down" ? -1 : 1)
}

function rowOf({ rank: { term, measured, rank, depth }, metrics, underWay }: RankedKeyword): v.InferInput<typeof Row> {
  const { popularity, popularityLow, popularityHigh, popularitySource, difficulty, difficultyBand } = metrics
  const { measuring, notMeasuring } = underWay
  return {
    ...{
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
    },
    ...{ measuring, notMeasuring },
  }
}
