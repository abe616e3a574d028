/** Days before a change that the days after it are compared with: four of each weekday. */
export const BASELINE_DAYS = 28
/** A stretch of days says something where so much of it is known. */
const KNOWN_SHARE = 0.7
/** Added to a count: none at all has a logarithm too. */
export const HALF = 0.5

/** What was counted or ranked each day, from the same first day on; null = not known. */
export interface DailyFigures {
  name: string
  /** How much it counts among several. */
  weight: number
  values: readonly (number | null)[]
  /** What `values` are counted per: proceeds per download. */
  per?: readonly (number | null)[]
}

/** Counts are added up over days; of places, whose ratios alone say something, the logarithms are. */
export type Scale = "counts" | "places"

/** Days as they stand around one: those before, those left out, which end with it, and those after. */
export interface Around {
  leftOut: number
  window: number
}

/** Sums from the first day on, by which any stretch's level is one subtraction. */
export interface Sums {
  name: string
  weight: number
  scale: Scale
  days: number
  known: Float64Array
  values: Float64Array
  per: Float64Array | null
}

export function sumsOf({ name, weight, values, per }: DailyFigures, scale: Scale): Sums {
  const days = values.length
  const sums = {
    known: new Float64Array(days + 1),
    values: new Float64Array(days + 1),
    per: new Float64Array(days + 1),
  }
  for (let day = 0; day < days; day++) {
    const [value, under] = [values[day] ?? null, per ? (per[day] ?? null) : 0]
    const isKnown = value !== null && under !== null
    const counted = scale === "places" ? Math.log(value ?? 1) : (value ?? 0)
    sums.known[day + 1] = (sums.known[day] as number) + (isKnown ? 1 : 0)
    sums.values[day + 1] = (sums.values[day] as number) + (isKnown ? counted : 0)
    sums.per[day + 1] = (sums.per[day] as number) + (isKnown ? under : 0)
  }
  return { name, weight, scale, days, ...sums, per: per ? sums.per : null }
}

/** The natural logarithm of a stretch's daily mean, both ends included; null where too little is known, or nothing was paid. */
export function levelOf(sums: Sums, from: number, to: number): number | null {
  if (from < 0 || to >= sums.days) return null
  const known = between(sums.known, from, to)
  if (known < KNOWN_SHARE * (to - from + 1)) return null
  const value = between(sums.values, from, to)
  if (sums.scale === "places") return value / known
  if (!sums.per) return Math.log((Math.max(value, 0) + HALF) / known)
  const per = between(sums.per, from, to)
  return value <= 0 || per <= 0 ? null : Math.log(value / per)
}

/** The logarithm of after ÷ before, around the day at which the days left out end. */
export function changeAt(sums: Sums, at: number, { leftOut, window }: Around): number | null {
  const before = levelOf(sums, at - leftOut - BASELINE_DAYS + 1, at - leftOut)
  const after = levelOf(sums, at + 1, at + window)
  return before === null || after === null ? null : after - before
}

/** The mean change of several, each by its weight; null where one is not known: their make-up must not change. */
export function meanChangeAt(all: readonly Sums[], at: number, around: Around): number | null {
  let [sum, weights] = [0, 0]
  for (const sums of all) {
    const change = changeAt(sums, at, around)
    if (change === null) return null
    sum += sums.weight * change
    weights += sums.weight
  }
  return weights > 0 ? sum / weights : null
}

/** The mean a day of a stretch; null where none is known. */
export function meanOver(sums: Sums, from: number, to: number): number | null {
  const known = between(sums.known, from, to)
  return known > 0 ? between(sums.values, from, to) / known : null
}

/** Each day's logarithm less their mean; 0, which says nothing, where a day is not known. */
export function centredLogs(sums: Sums, from: number, to: number): Float64Array {
  const logs = new Float64Array(to - from + 1)
  const known: number[] = []
  for (let day = from; day <= to; day++) {
    const level = levelOf(sums, day, day)
    if (level === null) continue
    logs[day - from] = level
    known.push(day - from)
  }
  const mean = known.reduce((sum, day) => sum + (logs[day] as number), 0) / Math.max(1, known.length)
  for (const day of known) logs[day] = (logs[day] as number) - mean
  return logs
}

function between(sums: Float64Array, from: number, to: number): number {
  return (sums[to + 1] as number) - (sums[from] as number)
}
