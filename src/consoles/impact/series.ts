/** Length of the baseline before a change: four of each weekday. */
export const BASELINE_DAYS = 28
/** A span of days is usable if at least this share of it is known. */
const KNOWN_SHARE = 0.7
/** Added to each count, so that zero has a logarithm too. */
export const HALF = 0.5

/** Counts or ranks per day. All series begin on the same day. Null if unknown. */
export interface DailyFigures {
  name: string
  /** Weight of this series among several. */
  weight: number
  values: readonly (number | null)[]
  /** Denominator of `values`: for proceeds per download, the downloads. */
  per?: readonly (number | null)[]
}

/** Counts are summed over days. Ranks are compared only by ratio, so their logarithms are summed. */
export type Scale = "counts" | "places"

/** The days around a change: the days before it, the excluded days that end with it, and the days after it. */
export interface Around {
  leftOut: number
  window: number
}

/** Prefix sums, so that the level of any span is found by a subtraction. */
export interface Sums {
  name: string
  weight: number
  scale: Scale
  days: number
  measuredDays: Float64Array
  values: Float64Array
  per: Float64Array | null
}

export function sumsOf({ name, weight, values, per }: DailyFigures, scale: Scale): Sums {
  const days = values.length
  const sums = {
    measuredDays: new Float64Array(days + 1),
    values: new Float64Array(days + 1),
    per: new Float64Array(days + 1),
  }
  for (let day = 0; day < days; day++) {
    const [value, under] = [values[day] ?? null, per ? (per[day] ?? null) : 0]
    const isMeasured = value !== null && under !== null
    const counted = scale === "places" ? Math.log(value ?? 1) : (value ?? 0)
    sums.measuredDays[day + 1] = (sums.measuredDays[day] as number) + (isMeasured ? 1 : 0)
    sums.values[day + 1] = (sums.values[day] as number) + (isMeasured ? counted : 0)
    sums.per[day + 1] = (sums.per[day] as number) + (isMeasured ? under : 0)
  }
  return { name, weight, scale, days, ...sums, per: per ? sums.per : null }
}

/**
 * Returns the natural logarithm of a span's daily mean, both ends included. Null if too few days are known, or if
 * nothing was paid.
 */
export function levelOf(sums: Sums, from: number, to: number): number | null {
  if (from < 0 || to >= sums.days) return null
  const measuredDays = between(sums.measuredDays, from, to)
  if (measuredDays < KNOWN_SHARE * (to - from + 1)) return null
  const value = between(sums.values, from, to)
  if (sums.scale === "places") return value / measuredDays
  if (!sums.per) return Math.log((Math.max(value, 0) + HALF) / measuredDays)
  const per = between(sums.per, from, to)
  return value <= 0 || per <= 0 ? null : Math.log(value / per)
}

/** Returns the logarithm of after ÷ before, around the last excluded day. */
export function changeAt(sums: Sums, at: number, { leftOut, window }: Around): number | null {
  const before = levelOf(sums, at - leftOut - BASELINE_DAYS + 1, at - leftOut)
  const after = levelOf(sums, at + 1, at + window)
  return before === null || after === null ? null : after - before
}

/**
 * Returns the weighted mean change of several series. Null if the change of one is unknown, because the mix of series
 * must stay the same.
 */
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

/** Returns the daily mean of a span. Null if no day is known. */
export function meanOver(sums: Sums, from: number, to: number): number | null {
  const measuredDays = between(sums.measuredDays, from, to)
  return measuredDays > 0 ? between(sums.values, from, to) / measuredDays : null
}

/** Returns each day's logarithm minus the mean of all days. An unknown day is 0, which has no effect. */
export function centredLogs(sums: Sums, from: number, to: number): Float64Array {
  const logs = new Float64Array(to - from + 1)
  const measuredIndexes: number[] = []
  for (let day = from; day <= to; day++) {
    const level = levelOf(sums, day, day)
    if (level === null) continue
    logs[day - from] = level
    measuredIndexes.push(day - from)
  }
  const mean =
    measuredIndexes.reduce((sum, day) => sum + (logs[day] as number), 0) / Math.max(1, measuredIndexes.length)
  for (const day of measuredIndexes) logs[day] = (logs[day] as number) - mean
  return logs
}

function between(sums: Float64Array, from: number, to: number): number {
  return (sums[to + 1] as number) - (sums[from] as number)
}
