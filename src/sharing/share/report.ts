import type { Platform, Side } from "../../core/observation/provenance.ts"
import { ownId, type RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import { type Direction, moveBetween } from "../../keywords/formulas/rank-moves.ts"
import { readKeywordsNow, type TermRank } from "../../keywords/read/ranks.ts"
import { type RankPoint, readRankSeries } from "../../keywords/read/series.ts"
import { addDays } from "../../lib/days.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { readStorePage, type SharedStorePage } from "./store-page.ts"

/** The content of a shared page. Times are ISO text, so that storing the content as JSON does not change it. */
export interface SharedReport {
  app: string
  storefront: string
  /** The storefront's name in English. */
  country: string
  /** Whether the app tracks the storefront. */
  tracked: boolean
  /** The first and last UTC day of the charts. */
  from: string
  to: string
  stores: SharedStore[]
}

export interface SharedStore {
  platform: Platform
  storeId: string
  /** The latest day on which any keyword was measured. The table shows this day. Null if no keyword was measured. */
  day: string | null
  keywords: SharedKeyword[]
  /** The number of keywords that are not listed. */
  more: number
  page: SharedStorePage
}

export interface SharedKeyword {
  term: string
  /**
   * False if the keyword was not measured on the day in the table. True with a null rank if the app was not among the
   * results.
   */
  measured: boolean
  rank: number | null
  depth: number | null
  source: RankSource | null
  seenAt: string | null
  change: SharedChange | null
  /** Measured days of the period. Null if the keyword has no chart. */
  points: SharedPoint[] | null
}

/**
 * The change since the previous measured day. Its `direction` is null if the two days cannot be compared. The whole
 * `change` is null if there is no previous day.
 */
interface SharedChange {
  since: string
  direction: Direction | null
  places: number | null
  /** The reason why the days cannot be compared: a different source or a different depth. Missing in older links. */
  why?: "source" | "depth"
}

/** [day, rank, source]; a null rank means absent. */
export type SharedPoint = [string, number | null, RankSource]

/** The fields of an app that a report reads. */
interface SharedApp extends RankedApp {
  name: string
  iosId: string | null
  androidPkg: string | null
}

interface ReportSpan {
  storefront: string
  /** UTC days, inclusive. */
  from: string
  to: string
}

/** Maximum number of keywords per store in the table. The first 12 measured keywords have a chart. */
export const MAX_LISTED = 200
const MAX_CHARTED = 12

/** Reads the content for a page that is shared now: ranks and store page in each store that has the app. */
export async function readReport(sql: Db, app: SharedApp, span: ReportSpan): Promise<SharedReport> {
  const stores: SharedStore[] = []
  for (const platform of ["ios", "android"] as const) {
    const storeId = platform === "ios" ? app.iosId : app.androidPkg
    if (storeId !== null) stores.push({ platform, storeId, ...(await readStore(sql, app, platform, span)) })
  }
  const tracked = app.countries.includes(span.storefront)
  return { app: app.name, ...span, country: storefrontName(span.storefront), tracked, stores }
}

async function readStore(sql: Db, app: SharedApp, platform: Platform, { storefront, from, to }: ReportSpan) {
  const side: Side = { platform, storefront }
  const { day, keywords } = await readKeywordsNow(sql, app, side)
  const series = await readRankSeries(sql, app, { ...side, from, to, limit: MAX_LISTED })
  const pointsOf = new Map(series.map(({ term, points }) => [term, points]))
  const listed = keywords.slice(0, MAX_LISTED)
  const measured = listed.filter(({ term }) => (pointsOf.get(term)?.length ?? 0) > 0)
  const charted = new Set(measured.slice(0, MAX_CHARTED).map(({ term }) => term))
  return {
    day,
    keywords: listed.map((shown) => keyword(shown, day, pointsOf.get(shown.term) ?? [], charted.has(shown.term))),
    more: keywords.length - listed.length,
    page: await readStorePage(sql, ownId(app, side), side),
  }
}

function keyword(shown: TermRank, day: string | null, points: readonly RankPoint[], charted: boolean): SharedKeyword {
  const { term, measured, rank, depth, source, seenAt } = shown
  return {
    term,
    measured,
    rank,
    depth,
    source,
    seenAt: seenAt?.toISOString() ?? null,
    change: changeOf(day, points),
    points: charted ? points.map(({ day, rank, source }): SharedPoint => [day, rank, source]) : null,
  }
}

function changeOf(day: string | null, points: readonly RankPoint[]): SharedChange | null {
  const [before, last] = points.slice(-2)
  if (!before || !last || last.day !== day) return null
  const move = moveBetween(before, last)
  if (move) return { since: before.day, direction: move.direction, places: move.places }
  return { since: before.day, direction: null, places: null, why: before.source === last.source ? "depth" : "source" }
}

/** Returns the days that a page covers if it is shared today: as far back as the plan's history, at most 90 days. */
export function reportDays(today: string, historyDays: number): Pick<ReportSpan, "from" | "to"> {
  return { from: addDays(today, 1 - Math.min(historyDays, MAX_DAYS)), to: today }
}

const MAX_DAYS = 90
