import type { Db } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import { addDays } from "../../lib/days.ts"

/** Length in days of the period that answers sum up. */
export const WINDOW_DAYS = 28
/** Installs are attributed up to this many days after a tap, so these days are read again. */
const GROWING_DAYS = 31
/** Number of past days for which the platform reports single days. */
const MAX_DAYS = 89
/** Maximum time after the end of a day until its figures are complete. */
const LATE_MS = 3 * 3_600_000

/** Returns the last day in the account's time zone with complete figures. */
export function lastAdsDay(zone: string, now: Date): string {
  return addDays(zonedDay(zone, new Date(now.getTime() - LATE_MS)), -1)
}

export function adsWindow(zone: string, now: Date): Days {
  const to = lastAdsDay(zone, now)
  return { from: addDays(to, 1 - WINDOW_DAYS), to }
}

/**
 * Returns the days to read. If the campaign was read before, these are the days whose figures still grow; otherwise all
 * available days.
 */
export function daysToRead(zone: string, now: Date, wasRead: boolean): Days {
  const to = lastAdsDay(zone, now)
  return { from: addDays(to, 1 - (wasRead ? GROWING_DAYS : MAX_DAYS)), to }
}

function zonedDay(timeZone: string, at: Date): string {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const
  return new Intl.DateTimeFormat("en-CA", { timeZone, ...parts }).format(at)
}

/** Returns the account's time zone as of the last check of its rights. UTC if none is stored. */
export async function readZone(sql: Db, account: string): Promise<string> {
  const [row] = await sql<{ zone: string }[]>`
    select coalesce(zone, 'UTC') as zone
    from connected_account
    where id = ${account}`
  return row?.zone ?? "UTC"
}
