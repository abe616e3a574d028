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

/** Everything that a shared page shows of an app; moments as ISO text, so that it is the same once stored. */
export interface SharedReport {
  app: string
  storefront: string
  /** The storefront's name in English. */
  country: string
  /** Whether the app tracks the storefront. */
  tracked: boolean
  /** The first and the last UTC day of the charts. */
  from: string
  to: string
  stores: SharedStore[]
}

export interface SharedStore {
  platform: Platform
  storeId: string
  /** The latest day on which any of the keywords was measured, which the table shows; null = never. */
  day: string | null
  keywords: SharedKeyword[]
  /** Keywords beyond those listed. */
  more: number
  page: SharedStorePage
}

export interface SharedKeyword {
  term: string
  /** False = nobody read it on the day shown; true and rank null = not among the results read. */
  measured: boolean
  rank: number | null
  depth: number | null
  source: RankSource | null
  seenAt: string | null
  change: SharedChange | null
  /** Measured days of the period; null = no chart of this one. */
  points: SharedPoint[] | null
}

/** Since the measured day before; direction null = the two cannot be compared. The whole is null where there is no such day. */
interface SharedChange {
  since: string
  direction: Direction | null
  places: number | null
  /** Where they cannot be compared: another source read the day, or not as deep. Links made before it have none. */
  why?: "source" | "depth"
}

/** [day, rank, source]; rank null = absent. */
export type SharedPoint = [string, number | null, RankSource]

/** An app as far as it is shown. */
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

/** Keywords that the table of a store names, and those of them that have a chart, the first that were measured. */
export const MOST_LISTED = 200
const MOST_CHARTED = 12

/** What a page shared now shows: ranks and store page of each store that the app is in. */
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
  const series = await readRankSeries(sql, app, { ...side, from, to, limit: MOST_LISTED })
  const pointsOf = new Map(series.map(({ term, points }) => [term, points]))
  const listed = keywords.slice(0, MOST_LISTED)
  const measured = listed.filter(({ term }) => (pointsOf.get(term)?.length ?? 0) > 0)
  const charted = new Set(measured.slice(0, MOST_CHARTED).map(({ term }) => term))
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

/** The days of a page shared on this day, as far back as the plan's history goes and 90 at most. */
export function reportDays(today: string, historyDays: number): Pick<ReportSpan, "from" | "to"> {
  return { from: addDays(today, 1 - Math.min(historyDays, MOST_DAYS)), to: today }
}

const MOST_DAYS = 90
