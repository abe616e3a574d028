import type { Tx } from "../database/types.ts"
import type { ChartDay } from "./derived/first-seen.ts"
import { DEMO } from "./provenance.ts"
import { lockCharts } from "./rows/chart-identities.ts"
import { deriveCharts } from "./rows/charts.ts"

/** Clears the demo's readings of charts, with what is derived of them and charts of which none is left. */
export async function removeDemoCharts(tx: Tx): Promise<{ count: number; apps: number[] }> {
  const charts = await tx<{ id: number }[]>`
    select distinct chart_id as id
    from chart_results
    where origin = ${DEMO}
    order by id`
  if (charts.length === 0) return { count: 0, apps: [] }
  const ids = charts.map(({ id }) => id)
  await lockCharts(tx, ids)
  const apps = await tx<{ id: number }[]>`
    select distinct app_id as id
    from chart_first_seen
    where chart_id = any(${ids}::int[])
    order by id`
  const gone = await tx<ChartDay[]>`
    delete from chart_results
    where chart_id = any(${ids}::int[]) and origin = ${DEMO}
    returning chart_id as "chartId", day`
  await deriveCharts(tx, gone)
  await tx`
    delete from chart c
    where id = any(${ids}::int[]) and not exists (select from chart_results where chart_id = c.id)`
  return { count: gone.length, apps: apps.map(({ id }) => id) }
}
