import { readUsdProceeds } from "../../../consoles/read/read-proceeds.ts"
import type { Sql } from "../../../database/types.ts"
import { addDays, dayOf } from "../../../lib/days.ts"
import { valueAt } from "../../../lib/objects.ts"
import { grossingTimes } from "../../formulas/revenue.ts"
import { readGrossingPlaces } from "../../read/grossing-places.ts"
import type { ReportedApp } from "./own-sales.ts"

/** Number of past days used to compare own revenue with ranks. */
const DAYS = 90

/**
 * Returns the factor between the revenue of own apps and the published revenue at their ranks on the grossing chart.
 * Null if unknown. A chart's day is a UTC day and a console's day has its own time zone; the difference is ignored.
 */
export async function readGrossingTimes(sql: Sql, own: readonly ReportedApp[], now: Date): Promise<number | null> {
  const to = dayOf(now)
  const days = { from: addDays(to, 1 - DAYS), to }
  const places = Map.groupBy(
    await readGrossingPlaces(
      sql,
      own.map(({ iosId }) => iosId),
      days,
    ),
    ({ id }) => id,
  )
  const listed = own.filter(({ iosId }) => places.has(iosId))
  const spans = listed.map(({ account, sku }) => ({ account, sku, ...days }))
  const money = Map.groupBy(await readUsdProceeds(sql, spans), ({ at }) => at)
  return grossingTimes(
    listed.map(({ iosId }, at) => {
      const usd = new Map(money.get(at)?.map((one) => [one.day, one.usd]))
      return valueAt(places, iosId).map(({ day, place }) => ({ place, usd: usd.get(day) ?? 0 }))
    }),
  )
}
