import type { Db } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import { addDays } from "../../lib/days.ts"

/** What answers sum up. */
export const WINDOW_DAYS = 28
/** Installs are counted up to so long after a tap: these days are read again. */
const GROWING_DAYS = 31
/** As far back as days are told apart. */
const MOST_DAYS = 89
/** Figures come so late. */
const LATE_MS = 3 * 3_600_000

/** The last day of the account's zone whose figures are all there. */
export function lastAdsDay(zone: string, now: Date): string {
  return addDays(zonedDay(zone, new Date(now.getTime() - LATE_MS)), -1)
}

export function adsWindow(zone: string, now: Date): Days {
  const to = lastAdsDay(zone, now)
  return { from: addDays(to, 1 - WINDOW_DAYS), to }
}

/** Of a campaign that was read before the days that still grow, else all that there are. */
export function daysToRead(zone: string, now: Date, wasRead: boolean): Days {
  const to = lastAdsDay(zone, now)
  return { from: addDays(to, 1 - (wasRead ? GROWING_DAYS : MOST_DAYS)), to }
}

function zonedDay(timeZone: string, at: Date): string {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const
  return new Intl.DateTimeFormat("en-CA", { timeZone, ...parts }).format(at)
}

/** The account's own zone, as the last look at it showed; UTC where none did. */
export async function readZone(sql: Db, account: string): Promise<string> {
  const [row] = await sql<{ zone: string }[]>`
    select coalesce(zone, 'UTC') as zone
    from connected_account
    where id = ${account}`
  return row?.zone ?? "UTC"
}
