import type { Sql, Tx } from "../../database/types.ts"
import { lockCharts } from "../../measuring/record/chart-identities.ts"
import { deriveCharts } from "./charts.ts"
import { type ChartApp, type ChartDay, deriveNewApps } from "./first-seen.ts"
import { rebuildMarketApps } from "./market-apps.ts"

/** Derives all charts again and returns how many rows were wrong. Pauses between two charts. */
export async function rebuildCharts(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (let chart = await findNextChart(sql, 0); chart; chart = await findNextChart(sql, chart)) {
    const id = chart
    mended += await sql.begin(async (tx) => {
      await lockCharts(tx, [id])
      const derived = await deriveCharts(tx, await readDays(tx, id))
      return derived + (await deriveNewApps(tx, await readApps(tx, id))).length
    })
    await pause()
  }
  return mended + (await rebuildMarketApps(sql, pause))
}

async function findNextChart(sql: Sql, after: number): Promise<number | undefined> {
  const [next] = await sql<{ id: number }[]>`
    select id
    from chart
    where id > ${after}
    order by id
    limit 1`
  return next?.id
}

/** Returns the days with readings or derived rows of a chart. */
async function readDays(tx: Tx, chart: number): Promise<ChartDay[]> {
  return await tx<ChartDay[]>`
    select ${chart}::int as "chartId", day
    from chart_results
    where chart_id = ${chart}
    union
    select ${chart}::int, day
    from chart_first_seen
    where chart_id = ${chart}
    union
    select ${chart}::int, day
    from chart_place
    where chart_id = ${chart}
    order by day`
}

/** Returns the apps with derived first days on a chart. */
async function readApps(tx: Tx, chart: number): Promise<ChartApp[]> {
  return await tx<ChartApp[]>`
    select app_id as app, chart_id as chart
    from chart_first_seen
    where chart_id = ${chart}
    union
    select app_id, chart_id
    from app_first_seen
    where chart_id = ${chart}
    order by app`
}
