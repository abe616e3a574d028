import { readUsdProceeds } from "../../../consoles/read/read-proceeds.ts"
import type { Sql } from "../../../database/types.ts"
import { addDays, dayOf } from "../../../lib/days.ts"
import { valueAt } from "../../../lib/objects.ts"
import { grossingTimes } from "../../formulas/revenue.ts"
import { readGrossingPlaces } from "../../read/grossing-places.ts"
import type { ReportedApp } from "./own-sales.ts"

/** What own apps brought at their places is asked of so many days. */
const DAYS = 90

/**
 * How many times the published money of a grossing list's places own apps bring there; null = they say nothing. A list's day
 * is a UTC day, a console's one of its own clock: a place is as good for the one as for the other.
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
