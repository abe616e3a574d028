import { dayNumber } from "../../lib/days.ts"
import { DAY_MS } from "../../lib/time.ts"

/** A measured day: its rank, or null if the app was not among the results. */
export type RankPoint = readonly [day: string, rank: number | null, ...rest: unknown[]]

export const dayValue = (day: string, value: number | null): RankPoint => [day, value]

/** A kind of values of a chart: how they are placed and written. */
export interface Unit {
  /** For summaries: "rank". */
  noun: string
  text(value: number): string
  /** Text of a measured day without a value: "absent". */
  none: string
  /** Whether such days have a band of their own below the plot. */
  hasBand: boolean
  scaleOf(values: readonly number[]): Scale
}

interface Scale {
  /** Values with a grid line, from the top to the bottom. */
  ticks: number[]
  /** Returns the position of a value between 0 (top) and 1 (bottom). */
  depthOf(value: number): number
}

/** Ranks, with rank 1 at the top. A measured day without a rank is an absence. */
export const RANKS: Unit = {
  noun: "rank",
  text: String,
  none: "absent",
  hasBand: true,
  scaleOf(values) {
    const span = rankSpan(values)
    return { ticks: rankTicks(span), depthOf: (rank) => depthOf(rank, span) }
  },
}

interface AmountOptions {
  none?: string
  /** The value at the bottom. Default: 0. */
  lowest?: number
  /** The value at the top. Default: a round number above all values. */
  highest?: number
}

/** Amounts on a linear scale, such as downloads, shares or stars. `text` writes one. */
export function amounts(
  text: (value: number) => string,
  { none = "not measured", lowest = 0, highest }: AmountOptions = {},
): Unit {
  return {
    noun: "value",
    text,
    none,
    hasBand: false,
    scaleOf(values) {
      const top = highest ?? roundAbove(Math.max(lowest, ...values))
      return {
        ticks: [top, (top + lowest) / 2, lowest],
        depthOf: (value) => 1 - Math.min(1, Math.max(0, (value - lowest) / (top - lowest))),
      }
    },
  }
}

/** Returns the lowest of 1, 2 and 5 times a power of ten that is at least the value. */
function roundAbove(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5, 10].find((times) => times * power >= value) ?? 10)
}

/** The ranks at the top and the bottom of a chart. */
interface RankSpan {
  highest: number
  lowest: number
}

/**
 * Returns the position of a rank between 0 (top) and 1 (bottom). The scale is logarithmic: from 1 to 2 is as far as
 * from 50 to 100.
 */
export function depthOf(rank: number, { highest, lowest }: RankSpan): number {
  return Math.min(1, Math.max(0, Math.log(rank / highest) / Math.log(lowest / highest)))
}

/** Returns round bounds that contain all ranks. The top is rank 1 unless all ranks are far below it. */
export function rankSpan(ranks: readonly number[]): RankSpan {
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)]
  if (ranks.length === 0) return { highest: 1, lowest: 10 }
  const highest = best >= 100 ? 100 : best >= 50 ? 50 : 1
  return { highest, lowest: ROUND.find((rank) => rank >= worst && rank > highest) ?? worst + 1 }
}

const ROUND = [10, 20, 50, 100, 200, 250, 500, 1_000]

/** Returns the ranks with a grid line: both bounds and round ranks between them. */
function rankTicks({ highest, lowest }: RankSpan): number[] {
  const between = [1, 3, 10, 30, 100, 150, 200].filter((rank) => rank > highest && rank < lowest * 0.8)
  return [highest, ...between.filter((rank) => rank !== 150 || highest === 100), lowest]
}

/** Returns the days labelled on an axis: both ends and evenly spaced days between them. */
export function dayTicks(from: string, to: string, most: number): string[] {
  const [first, last] = [dayNumber(from), dayNumber(to)]
  const parts = Math.max(1, Math.min(most - 1, last - first))
  const days = Array.from({ length: parts + 1 }, (_, at) => Math.round(first + ((last - first) * at) / parts))
  return [...new Set(days)].map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10))
}

interface DayRank {
  day: string
  /** See dayNumber. */
  at: number
  rank: number
}

/** Runs of points from one source, oldest first. */
export type SourceRuns = readonly { source: string; from: string; to: string }[]

/**
 * Returns the pieces of a line: measured days with a rank from one source, each at most `maxStep` days after the one
 * before it. A single day is a piece by itself.
 */
export function piecesOf(points: readonly RankPoint[], sources: SourceRuns, maxStep = 1): DayRank[][] {
  const pieces: DayRank[][] = []
  let [run, runBefore, before] = [0, -1, Number.NaN]
  for (const [day, rank] of points) {
    while (run < sources.length && sources[run]!.to < day) run++
    const at = dayNumber(day)
    if (rank === null) {
      before = Number.NaN
      continue
    }
    const point = { day, at, rank }
    const isJoined =
      at - before <= maxStep && (run === runBefore || sources[run]?.source === sources[runBefore]?.source)
    if (isJoined) pieces.at(-1)?.push(point)
    else pieces.push([point])
    ;[before, runBefore] = [at, run]
  }
  return pieces
}
