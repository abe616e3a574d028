import type { Tx } from "../../database/types.ts"
import type { ChartDay } from "../derived/first-seen.ts"
import { type ChartObservation, DEMO } from "../types.ts"

/** A reading of a chart that is to be stored. */
interface ChartRow {
  chartId: number
  from: ChartObservation
}

/**
 * Of a chart that anybody else has read whole, nothing of the demo's is held, whichever came first: beside the demo's few
 * places of long ago everything that is read now would be new. Gives the readings to store, and the days whose readings
 * went; what is derived of these is the caller's. Needs the charts' lock.
 */
export async function settleDemo<Row extends ChartRow>(
  tx: Tx,
  rows: readonly Row[],
): Promise<{ rows: Row[]; gone: ChartDay[] }> {
  const isOfDemo = ({ from }: Row) => from.origin === DEMO
  const others = rows.filter((row) => !isOfDemo(row) && row.from.complete).map(({ chartId }) => chartId)
  const gone = others.length > 0 ? await removeDemoReadings(tx, others) : []
  if (!rows.some(isOfDemo)) return { rows: [...rows], gone }
  const demo = rows.filter((row) => isOfDemo(row) && !others.includes(row.chartId)).map(({ chartId }) => chartId)
  const open = new Set(await markDemo(tx, demo))
  return { rows: rows.filter((row) => !isOfDemo(row) || open.has(row.chartId)), gone }
}

/** Deletes the demo's readings of charts, and gives their days. */
export async function removeDemoReadings(tx: Tx, charts: readonly number[]): Promise<ChartDay[]> {
  const held = await tx<{ id: number }[]>`
    update chart
    set demo = false
    where id = any(${charts as number[]}::int[]) and demo
    returning id`
  if (held.length === 0) return []
  return await tx<ChartDay[]>`
    delete from chart_results
    where chart_id = any(${held.map(({ id }) => id)}::int[]) and origin = ${DEMO}
    returning chart_id as "chartId", day`
}

/** Marks those of which nobody else holds a reading, and gives them. */
async function markDemo(tx: Tx, charts: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update chart c
    set demo = true
    where c.id = any(${charts as number[]}::int[]) and not exists (
      select
      from chart_results
      where chart_id = c.id and complete and origin <> ${DEMO}
    )
    returning c.id`
  return rows.map(({ id }) => id)
}
