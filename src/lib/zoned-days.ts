import { Cache } from "./cache.ts"

/** Whether this is a time zone of the IANA database, by its name there: "Europe/Berlin", not "+01:00". */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    return clockOf(name) !== undefined
  } catch {
    return false
  }
}

/** The day that a calendar in the time zone shows at a moment, "YYYY-MM-DD". */
export function zonedDay(at: Date, tz: string): string {
  return shown(clockOf(tz), at)
}

/**
 * The moments that a calendar in the time zone shows a day at: from `from` until before `to`. 23 or 25 hours where clocks are
 * put forward or back that day; none at all where the zone left the day out.
 */
export function zonedBounds(day: string, tz: string): { from: Date; to: Date } {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (tz === "UTC") return { from: new Date(midnight), to: new Date(midnight + 24 * HOUR_MS) }
  const clock = clockOf(tz)
  return { from: firstShown(clock, day, midnight), to: firstAfter(clock, day, midnight) }
}

/** An entry is never stale. Making a clock takes as long as reading it thirty times. */
const clocks = new Cache<string, Intl.DateTimeFormat>(100)

function clockOf(tz: string): Intl.DateTimeFormat {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const
  return clocks.getOrMake(tz, () => new Intl.DateTimeFormat("en-CA", { timeZone: tz, ...parts }))
}

function shown(clock: Intl.DateTimeFormat, at: Date): string {
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${parts.get("year")?.padStart(4, "0")}-${parts.get("month")}-${parts.get("day")}`
}

const HOUR_MS = 3_600_000
// Kiritimati is 14 hours ahead of UTC; the farthest behind are 12, and Manila was 16.
const FARTHEST_MS = 26 * HOUR_MS

function firstShown(clock: Intl.DateTimeFormat, day: string, midnight: number): Date {
  return firstWhere((at) => shown(clock, at) >= day, midnight - FARTHEST_MS, midnight + FARTHEST_MS)
}

function firstAfter(clock: Intl.DateTimeFormat, day: string, midnight: number): Date {
  const from = midnight - FARTHEST_MS
  return firstWhere((at) => shown(clock, at) > day, from, midnight + 24 * HOUR_MS + FARTHEST_MS)
}

/** The first whole second from which it is so; before it is not so, and from then on it stays so. */
function firstWhere(isSo: (at: Date) => boolean, fromMs: number, toMs: number): Date {
  let [before, after] = [fromMs / 1_000, toMs / 1_000]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (isSo(new Date(middle * 1_000))) after = middle
    else before = middle
  }
  return new Date(after * 1_000)
}
