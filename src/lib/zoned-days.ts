import { Cache } from "./cache.ts"

/** Returns whether this is the name of an IANA time zone: "Europe/Berlin", not "+01:00". */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    return clockOf(name) !== undefined
  } catch {
    return false
  }
}

/** Returns the calendar day in the time zone, "YYYY-MM-DD". */
export function zonedDay(at: Date, tz: string): string {
  return shown(clockOf(tz), at)
}

/**
 * Returns the start (inclusive) and end (exclusive) of a day in the time zone. The day has 23 or 25 hours when clocks
 * change, and none if the zone skipped it.
 */
export function zonedBounds(day: string, tz: string): { from: Date; to: Date } {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (tz === "UTC") return { from: new Date(midnight), to: new Date(midnight + 24 * HOUR_MS) }
  const clock = clockOf(tz)
  return { from: firstShown(clock, day, midnight), to: firstAfter(clock, day, midnight) }
}

/** An entry is never stale. Creating a formatter takes thirty times as long as using it. */
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
// Kiritimati is 14 hours ahead of UTC. The zone farthest behind UTC is 12 hours behind, and Manila was 16.
const FARTHEST_MS = 26 * HOUR_MS

function firstShown(clock: Intl.DateTimeFormat, day: string, midnight: number): Date {
  return firstWhere((at) => shown(clock, at) >= day, midnight - FARTHEST_MS, midnight + FARTHEST_MS)
}

function firstAfter(clock: Intl.DateTimeFormat, day: string, midnight: number): Date {
  const from = midnight - FARTHEST_MS
  return firstWhere((at) => shown(clock, at) > day, from, midnight + 24 * HOUR_MS + FARTHEST_MS)
}

/**
 * Returns the first whole second for which the condition holds. It must be monotonic: false before, true afterwards.
 */
function firstWhere(isSo: (at: Date) => boolean, fromMs: number, toMs: number): Date {
  let [before, after] = [fromMs / 1_000, toMs / 1_000]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (isSo(new Date(middle * 1_000))) after = middle
    else before = middle
  }
  return new Date(after * 1_000)
}
