import {
  type Around,
  BASELINE_DAYS,
  centredLogs,
  changeAt,
  type DailyFigures,
  HALF,
  levelOf,
  meanChangeAt,
  meanOver,
  type Scale,
  type Sums,
  sumsOf,
} from "./series.ts"
import { controlWeights } from "./weights.ts"

/** Fewer controls cannot represent what would have happened without the change. */
const MIN_CONTROLS = 3
/** Maximum number of controls. Only the largest are used. */
const MAX_CONTROLS = 30
/**
 * Minimum number of consecutive windows of earlier days. With fewer, it is unknown how much the figures vary by
 * themselves.
 */
export const MIN_WINDOWS = 20
/**
 * Maximum number of days on which a change may have happened. With more, no effect is computed, because the day of the
 * change is too uncertain.
 */
export const MAX_LEFT_OUT = 7
/** Minimum mean count per day. A series with less is noise. */
const MIN_PER_DAY = 3

/** The two-sided 90 % quantile of the normal distribution. */
const Z_90 = 1.6448536269514722
/** The one-sided 80 % quantile, for the power of the smallest detectable effect. */
const Z_80 = 0.8416212335729143

/** The day of a change, in series of daily figures that all begin on the same day. */
export interface ChangedDay extends Around {
  /** Index of the last excluded day. */
  at: number
  /** Indexes of days on which the app itself changed. Earlier days near them are not used as placebos. */
  ownChanges: readonly number[]
}

export interface Comparison {
  scale: Scale
  treated: readonly DailyFigures[]
  controls: readonly DailyFigures[]
}

/** All figures are natural logarithms of a ratio. */
export interface Effect {
  method: "difference_in_differences" | "before_after"
  /**
   * The change of the treated figures, the change of the controls over the same days (null without controls), and the
   * difference between the two.
   */
  moved: number
  controlsMoved: number | null
  effect: number
  /** The 90 % interval. */
  low: number
  high: number
  /** The smallest effect that would be detected with a probability of 80 %. */
  leastDetectable: number
  /**
   * Number of earlier days for which an effect was computed in the same way, and of non-overlapping windows among them.
   */
  days: number
  windows: number
  /**
   * Share, 0 to 1, of the earlier days with an effect at least as large, widened like the interval. The day of the
   * change counts as one of them.
   */
  asLarge: number
  controls: { name: string; weight: number }[]
  /**
   * Number of controls that were tested as if they were treated, and how many of them moved at least as far, relative
   * to their own spread. Null without controls.
   */
  space: { controls: number; asLarge: number } | null
}

/** The reason why no effect can be computed. */
export type NoEffect =
  | { none: "unknown_change_day" | "unknown_days" | "too_few_counts" }
  | { none: "too_few_days"; days: number; needed: number }

/** Returns the effect of a change, or the reason why there is none. */
export function effectOf({ scale, treated, controls }: Comparison, day: ChangedDay): Effect | NoEffect {
  if (day.leftOut > MAX_LEFT_OUT) return { none: "unknown_change_day" }
  const treatedSums = treated.map((item) => sumsOf(item, scale))
  const eve = day.at - day.leftOut
  if (scale === "counts" && !treatedSums.every((sums) => isCounted(sums, eve))) return { none: "too_few_counts" }
  const usable = controls
    .map((control) => sumsOf(control, scale))
    .filter((sums) => changeAt(sums, day.at, day) !== null && (scale === "places" || isCounted(sums, eve)))
    .sort((a, b) => sizeOf(b) - sizeOf(a) || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_CONTROLS)
  const isCompared = usable.length >= MIN_CONTROLS
  const subject = against(treatedSums, isCompared ? usable : [], eve)
  const found = compareWithEarlier(subject, day)
  if ("none" in found) return found
  const { relative, ...effect } = found
  return {
    method: isCompared ? "difference_in_differences" : "before_after",
    ...effect,
    controls: subject.controls.map(({ name }, at) => ({ name, weight: subject.weights[at] as number })),
    space: isCompared ? inSpace(usable, day, relative) : null,
  }
}

function isCounted(sums: Sums, eve: number): boolean {
  const mean = countsADay(sums, eve - BASELINE_DAYS + 1, eve)
  return levelOf(sums, eve - BASELINE_DAYS + 1, eve) !== null && mean !== null && mean >= MIN_PER_DAY
}

/** Returns the mean per day of the counted value, or of the denominator if the figure is a ratio. */
function countsADay(sums: Sums, from: number, to: number): number | null {
  return meanOver({ ...sums, values: sums.per ?? sums.values }, from, to)
}

function sizeOf({ scale, per, values, measuredDays, days }: Sums): number {
  return (scale === "places" ? measuredDays : (per ?? values))[days] as number
}

interface Subject {
  treated: readonly Sums[]
  controls: readonly Sums[]
  weights: readonly number[]
}

/** Fits the weights once, to the days before the change. */
function against(treated: readonly Sums[], controls: readonly Sums[], eve: number): Subject {
  if (controls.length === 0) return { treated, controls, weights: [] }
  const total = treated.reduce((sum, { weight }) => sum + weight, 0)
  const logs = new Float64Array(eve + 1)
  for (const series of treated)
    for (const [day, log] of centredLogs(series, 0, eve).entries())
      logs[day] = (logs[day] as number) + (log * series.weight) / total
  return {
    treated,
    controls,
    weights: controlWeights(
      logs,
      controls.map((control) => centredLogs(control, 0, eve)),
    ),
  }
}

interface Moves {
  moved: number
  controlsMoved: number | null
  effect: number
}

/** Returns the change of the treated figures minus that of the controls. Null if either is unknown. */
function movesAt({ treated, controls, weights }: Subject, at: number, around: Around): Moves | null {
  const moved = meanChangeAt(treated, at, around)
  const controlsMoved = controls.length === 0 ? null : weighedMoveAt(controls, weights, at, around)
  if (moved === null || (controls.length > 0 && controlsMoved === null)) return null
  return { moved, controlsMoved, effect: moved - (controlsMoved ?? 0) }
}

/**
 * Returns the weighted change of the controls. The weight of a control without data goes to the other controls,
 * provided that they have at least half of the total weight.
 */
function weighedMoveAt(controls: readonly Sums[], weights: readonly number[], at: number, around: Around) {
  let [sum, weighed] = [0, 0]
  for (const [place, control] of controls.entries()) {
    const weight = weights[place] as number
    const moved = weight === 0 ? null : changeAt(control, at, around)
    if (moved === null) continue
    sum += weight * moved
    weighed += weight
  }
  return weighed < 0.5 ? null : sum / weighed
}

interface FoundEffect extends Omit<Effect, "method" | "controls" | "space"> {
  /** Returns the effect in units of half the interval. */
  relative: number
}

/**
 * Compares the day of the change with all earlier days, for which an effect is computed in the same way: placebos in
 * time.
 */
function compareWithEarlier(subject: Subject, day: ChangedDay): FoundEffect | NoEffect {
  const moves = movesAt(subject, day.at, day)
  if (moves === null) return { none: "unknown_days" }
  const distances = earlierDays(day).flatMap((at) => {
    const placebo = movesAt(subject, at, day)
    return placebo ? [Math.abs(placebo.effect)] : []
  })
  const [days, needed] = [distances.length, MIN_WINDOWS * day.window]
  if (days < needed) return { none: "too_few_days", days, needed }
  const wider = studentWidening(days / day.window)
  const spread = quantile(distances, 0.9)
  const half = wider * Math.hypot(spread, Z_90 * Math.sqrt(addedVariance(subject.treated, day)))
  const widening = spread === 0 ? wider : half / spread
  const size = Math.abs(moves.effect)
  return {
    ...moves,
    low: moves.effect - half,
    high: moves.effect + half,
    leastDetectable: half * (1 + Z_80 / Z_90),
    days,
    windows: Math.floor(days / day.window),
    asLarge: (distances.filter((distance) => widening * distance >= size).length + 1) / (days + 1),
    relative: half === 0 ? 0 : size / half,
  }
}

/**
 * Returns the variance added by smaller counts. The logarithm of a sum of n counts varies by 1/n, and after a fall n is
 * smaller than on the earlier days that determine the interval. 0 where counts rose, and for ranks.
 */
function addedVariance(treated: readonly Sums[], { at, leftOut, window }: ChangedDay): number {
  const eve = at - leftOut
  const total = treated.reduce((sum, { weight }) => sum + weight, 0)
  return treated.reduce((sum, item) => {
    const before = countsADay(item, eve - BASELINE_DAYS + 1, eve)
    const after = countsADay(item, at + 1, at + window)
    if (item.scale === "places" || before === null || after === null || after >= before) return sum
    return sum + ((item.weight / total) ** 2 * (1 / Math.max(after, HALF) - 1 / before)) / window
  }, 0)
}

/** Returns the days whose window ends before the excluded days, and that have no change of the app itself nearby. */
function earlierDays({ at, leftOut, window, ownChanges }: ChangedDay): number[] {
  const days: number[] = []
  for (let day = leftOut + BASELINE_DAYS - 1; day + window <= at - leftOut; day++)
    if (!ownChanges.some((changed) => Math.abs(changed - day) <= window)) days.push(day)
  return days
}

/** Tests each control as if it were treated, against the other controls: placebos in space. */
function inSpace(controls: readonly Sums[], day: ChangedDay, relative: number) {
  const eve = day.at - day.leftOut
  const found = controls.flatMap((control, at) => {
    const subject = against([control], controls.toSpliced(at, 1), eve)
    const moved = compareWithEarlier(subject, day)
    return "none" in moved ? [] : [moved.relative]
  })
  return { controls: found.length, asLarge: found.filter((other) => other >= relative).length }
}

/**
 * Returns how much wider a 90 % interval is if the spread is estimated from n values: Student's t over the normal
 * (Cornish-Fisher).
 */
export function studentWidening(n: number): number {
  const [z, df] = [Z_90, n - 1]
  const t = z + (z ** 3 + z) / (4 * df) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df * df)
  return t / z
}

/** Returns the quantile at `share`, 0 to 1, interpolated between the two nearest values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number]
  return low + (high - low) * (place - Math.floor(place))
}
