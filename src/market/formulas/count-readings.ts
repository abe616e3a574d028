import { DAY_MS } from "../../lib/time.ts"

/** What a store's page or look-up counted on a UTC day, by one source. */
export interface CountReading {
  /** "YYYY-MM-DD" */
  day: string
  count: number
}

/** What a count rose by between two of its readings. */
export interface Gain {
  gained: number
  days: number
  from: string
  to: string
}

/** The span that a month's figure is about. */
export const MONTH_DAYS = 30
/** Counts stand still for days and are then made up: from so many days on a difference is trusted. */
export const WEEK_DAYS = 7

/**
 * The gain over the longest stretch without a fall in the 30 days that end with `asOf`, of those of seven days and more; of
 * shorter ones only where there is none. Null where no two readings of one stretch lie a day apart. Of equally long ones the
 * latest.
 *
 * A fall is a gap: the store took counts away, and what came in meanwhile is not known.
 *
 * Source: counts are refreshed about daily, so less than a day says nothing; of 284 rating counts 2 fell by one within two
 * hours (drewster99/appstore), of 50 apps 4 had fewer ratings eleven months later (gauthamp10/Google-Playstore-Dataset).
 */
export function longestGain(readings: readonly CountReading[], asOf: string): Gain | null {
  const first = Date.parse(asOf) - MONTH_DAYS * DAY_MS
  const within = inOrder(readings).filter(({ day }) => Date.parse(day) >= first && day <= asOf)
  const gains = stretches(within)
    .map(gainOver)
    .filter(({ days }) => days >= 1)
  const trusted = gains.filter(({ days }) => days >= WEEK_DAYS)
  return longest(trusted.length > 0 ? trusted : gains)
}

/** By day; of one day the last that is given. */
export function inOrder(readings: readonly CountReading[]): CountReading[] {
  const byDay = new Map(readings.map((reading) => [reading.day, reading]))
  return [...byDay.values()].sort((a, b) => (a.day < b.day ? -1 : 1))
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}

/** Cut at each fall. */
function stretches(readings: readonly CountReading[]): CountReading[][] {
  const cut: CountReading[][] = []
  for (const reading of readings) {
    const stretch = cut.at(-1)
    const last = stretch?.at(-1)
    if (stretch && last && reading.count >= last.count) stretch.push(reading)
    else cut.push([reading])
  }
  return cut
}

function gainOver(stretch: readonly CountReading[]): Gain {
  const [first, last] = [stretch[0] as CountReading, stretch.at(-1) as CountReading]
  return { gained: last.count - first.count, days: daysBetween(first.day, last.day), from: first.day, to: last.day }
}

function longest(gains: readonly Gain[]): Gain | null {
  return gains.reduce<Gain | null>((best, gain) => (best && best.days > gain.days ? best : gain), null)
}
