import type { ChartKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { type ChartReading, type Movers, type MoversQuery, moversBetween } from "../formulas/chart-movers.ts"
import { type ChartAnswer, readChart } from "./charts.ts"

export interface ChartMovers {
  day: MeasuredDay
  /** The day that it is compared with; null while there is none before it. */
  against: MeasuredDay | null
  /** Apps as store_app ids; null = there is nothing to compare with: no earlier day, or one that another source read. */
  movers: Movers | null
  stood: ChartStanding[]
}

export type MeasuredDay = Omit<ChartAnswer, "appIds">

/** null = absent, as far as was read; `was` also where there is nothing to compare with. */
export interface ChartStanding {
  app: number
  rank: number | null
  was: number | null
}

interface ChartMoversQuery extends MoversQuery {
  /** The later day, or the last measured before it; the latest of all unless said. */
  day?: string
  /** How many days earlier the other is, or the last measured before it; 1 unless said. */
  days?: number
  /** store_app ids whose ranks on both days are wanted. */
  apps?: readonly number[]
}

/** What moved on a chart between two measured days (see moversBetween); null = it was not measured by then. */
export async function readChartMovers(
  sql: Sql,
  chart: ChartKey,
  { day, days = 1, apps = [], ...asked }: ChartMoversQuery = {},
): Promise<ChartMovers | null> {
  const later = await readChart(sql, chart, day)
  if (!later) return null
  const earlier = await readChart(sql, chart, addDays(later.day, -days))
  const movers = earlier && moversBetween(readingOf(earlier), readingOf(later), asked)
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
