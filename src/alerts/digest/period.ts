import { addDays, dayOf, mondayOf } from "../../lib/days.ts"
import { zonedBounds, zonedDay } from "../../lib/zoned-days.ts"

export const EVERY = ["day", "week"] as const

/** When a person gets a digest. */
export interface Schedule {
  every: (typeof EVERY)[number]
  /** 0 to 23, in the time zone. */
  hour: number
  /** An IANA time zone. */
  zone: string
}

/** The UTC days that a digest covers, first and last included. */
export interface Period {
  from: string
  to: string
  /** The time at which the digest is due. */
  at: Date
}

const HOUR_MS = 3_600_000
/**
 * Hours after which a due digest is no longer sent, for example because the server was down. The next one is due soon.
 */
const LATEST_HOURS = { day: 12, week: 48 }
/** On Mondays the summaries of the week are in the feed by this hour, UTC (alerts/weekly.ts). */
const WEEK_READY_HOUR = 9

/**
 * Returns the period whose digest is due: the UTC day, or the week from Monday to Sunday, that was over when the
 * person's hour came. Null if none is due now. On a day when clocks change the hour may be one off.
 */
export function duePeriod({ every, hour, zone }: Schedule, now: Date): Period | null {
  const at = every === "day" ? dueDaily(hour, zone, now) : dueWeekly(hour, zone, now)
  if (at.getTime() > now.getTime() || now.getTime() - at.getTime() >= LATEST_HOURS[every] * HOUR_MS) return null
  const today = dayOf(at)
  if (every === "day") return { from: addDays(today, -1), to: addDays(today, -1), at }
  const monday = mondayOf(today)
  return { from: addDays(monday, -7), to: addDays(monday, -1), at }
}

function dueDaily(hour: number, zone: string, now: Date): Date {
  const today = zonedDay(now, zone)
  const at = hourOf(today, hour, zone)
  return at <= now ? at : hourOf(addDays(today, -1), hour, zone)
}

function dueWeekly(hour: number, zone: string, now: Date): Date {
  const monday = mondayOf(zonedDay(now, zone))
  const ready = new Date(Date.parse(monday) + WEEK_READY_HOUR * HOUR_MS)
  const at = hourOf(monday, hour, zone)
  return at < ready ? ready : at
}

function hourOf(day: string, hour: number, zone: string): Date {
  return new Date(zonedBounds(day, zone).from.getTime() + hour * HOUR_MS)
}
