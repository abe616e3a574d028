import type { ChartKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { type ChartReading, type Movers, type MoversQuery, moversBetween } from "../formulas/chart-movers.ts"
import { type ChartAnswer, readChart } from "./charts.ts"

export interface ChartMovers {
  day: MeasuredDay
  /** The earlier day of the comparison. Null if there is no earlier day. */
  against: MeasuredDay | null
  /** Apps are store_app ids. Null if there is nothing to compare with: no earlier day, or a different source. */
  movers: Movers | null
  stood: ChartStanding[]
}

export type MeasuredDay = Omit<ChartAnswer, "appIds">

/** Null if absent from the places that were read; `was` is also null if there is nothing to compare with. */
export interface ChartStanding {
  app: number
  rank: number | null
  was: number | null
}

interface ChartMoversQuery extends MoversQuery {
  /** The later day, or the last measured before it. Default: the latest measured day. */
  day?: string
  /** How many days earlier the other day is; if unmeasured, the last measured day before it. Default 1. */
  days?: number
  /** store_app ids whose ranks on both days are returned. */
  apps?: readonly number[]
}

/** Returns what moved on a chart between two measured days (moversBetween). Null if it was not measured by then. */
export async function readChartMovers(
  sql: Sql,
  chart: ChartKey,
  { day, days = 1, apps = [], ...query }: ChartMoversQuery = {},
): Promise<ChartMovers | null> {
  const later = await readChart(sql, chart, day)
  if (!later) return null
  const earlier = await readChart(sql, chart, addDays(later.day, -days))
  const movers = earlier && moversBetween(readingOf(earlier), readingOf(later), query)
  return {
    day: dayOf(later),
    against: earlier && dayOf(earlier),
    movers,
    stood: apps.map((app) => ({ app, rank: rankOf(later, app), was: movers && rankOf(earlier, app) })),
  }
}

function readingOf({ source, depth, appIds }: ChartAnswer): ChartReading {
  return { source, depth, apps: appIds }
}

function dayOf({ appIds: _, ...day }: ChartAnswer): MeasuredDay {
  return day
}

function rankOf({ appIds }: ChartAnswer, app: number): number | null {
  return appIds.indexOf(app) + 1 || null
}
