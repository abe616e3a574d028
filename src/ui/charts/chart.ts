import { addDays, type Days } from "../../lib/days.ts"
import type { RankPoint, SourceRuns, Unit } from "./scale.ts"

/** A chart over UTC days, inclusive. Without script it is a picture with a table; script adds a crosshair. */
export interface Chart extends Days {
  /** Prefix of the element ids of the chart. Unique on the page. Names its CSV file. */
  id: string
  title: string
  /** "bars" draws the points of the first line as columns, null as unknown. Default: lines. */
  kind?: "lines" | "bars"
  /** Default: ranks. */
  unit?: Unit
  lines: readonly ChartLine[]
  marks?: readonly ChartMark[]
  /** Address of the chart as CSV. */
  csv?: string
  /** Whether the table is shown at first. */
  isOpen?: boolean
}

export interface ChartLine {
  name: string
  /** The current value, in the legend. */
  currentValue?: string
  /** Address that the name in the legend links to. */
  href?: string
  /** Measured days, oldest first. */
  points: readonly RankPoint[]
  /** Runs of points from one source. A change of source breaks the line. */
  sources?: SourceRuns
  /** Index of its colour. Default: its place among the lines. A compared line has the colour of its counterpart. */
  colour?: number
  /** True for the line of the comparison, which is drawn dashed. */
  isCompared?: boolean
  /** Maximum number of days between two connected points, for values that are not measured daily. Default: one. */
  maxStep?: number
  /** Facts about the value of a day besides its source, such as its interval. */
  notes?: ReadonlyMap<string, string>
  /** Intervals of values, drawn behind the line. */
  ranges?: readonly (readonly [day: string, low: number, high: number])[]
  /** Returns the address that the table links a day's value to, such as its evidence. */
  hrefOn?: (day: string) => string
}

/** An event of a day: what happened, in words. */
export interface ChartMark {
  day: string
  kind: keyof typeof MARKS
  text: string
}

export const MARKS = {
  release: { sign: "▲", name: "Release" },
  listing: { sign: "◆", name: "Listing change" },
  featured: { sign: "★", name: "Featured" },
} as const

/** Maximum number of lines, each with a colour of its own. */
export const MAX_LINES = 8

/** Returns the class of a line's colour. */
export const lookOf = ({ colour, isCompared }: ChartLine, at: number) =>
  `s${((colour ?? at) % MAX_LINES) + 1}${isCompared ? " compared" : ""}`

/** A day of a chart: the state of each line, and what happened. */
export interface ChartDay {
  day: string
  cells: ChartCell[]
  events: string
}

export interface ChartCell {
  /** Undefined: not measured. Null: measured, without a value. */
  value: number | null | undefined
  source: string | null
  note: string | null
}

/** Returns the points moved by `days`, so that an earlier period lies over the period that it is compared with. */
export function shifted(points: readonly RankPoint[], days: number): RankPoint[] {
  return points.map(([day, value]) => [addDays(day, days), value])
}

/**
 * Returns the days of a chart, oldest first: for bars, the days of the first line's points; for lines, every day of the
 * chart.
 */
export function daysOf({ kind, from, to, lines, marks = [] }: Chart): ChartDay[] {
  const values = lines.map(({ points }) => new Map(points.map(([day, value]) => [day, value])))
  const sources = lines.map(({ sources = [] }) => sourceFinder(sources))
  const events = Map.groupBy(marks, ({ day }) => day)
  const days = kind === "bars" ? (lines[0]?.points ?? []).map(([day]) => day) : everyDay(from, to)
  return days.map((day) => ({
    day,
    cells: values.map((of, at) => {
      const value = of.get(day)
      const source = value === undefined ? null : sources[at]!(day)
      return { value, source, note: lines[at]!.notes?.get(day) ?? null }
    }),
    events: (events.get(day) ?? []).map(({ kind, text }) => `${MARKS[kind].name}: ${text}`).join("; "),
  }))
}

/** Returns a function that finds the source of a day. It must be called with the days in order. */
function sourceFinder(runs: SourceRuns): (day: string) => string | null {
  let run = 0
  return (day) => {
    while (run < runs.length && runs[run]!.to < day) run++
    return runs[run]?.source ?? null
  }
}

function everyDay(from: string, to: string): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}
