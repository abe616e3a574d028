import { DAY_MS } from "../../lib/time.ts"

/** A count that a store page or look-up showed on a UTC day, from one source. */
export interface CountReading {
  /** "YYYY-MM-DD" */
  day: string
  count: number
}

/** The increase of a count from one reading to a later one. */
export interface Gain {
  gained: number
  days: number
  from: string
  to: string
}

/** The span that a monthly figure covers, in days. */
export const MONTH_DAYS = 30
/** The stores update counts days late, so a difference is reliable only over at least a week. */
export const WEEK_DAYS = 7

/**
 * Returns the gain over the longest stretch without a fall within the 30 days that end with `asOf`. Stretches of at
 * least seven days are preferred over shorter ones, and of equally long ones the latest. Null if no stretch has two
 * readings at least a day apart.
 *
 * A fall splits stretches: the store removed counts, and the gain meanwhile is unknown.
 *
 * Source: counts are refreshed about daily, so less than a day means nothing; of 284 rating counts 2 fell by one within
 * two hours (drewster99/appstore), of 50 apps 4 had fewer ratings eleven months later
 * (gauthamp10/Google-Playstore-Dataset).
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

/** Sorts by day. If a day occurs twice, the last given reading is used. */
export function inOrder(readings: readonly CountReading[]): CountReading[] {
  const byDay = new Map(readings.map((reading) => [reading.day, reading]))
  return [...byDay.values()].sort((a, b) => (a.day < b.day ? -1 : 1))
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}

/** Splits the readings at each fall. */
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
