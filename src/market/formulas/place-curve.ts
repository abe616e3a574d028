/** A figure of an app: a value with its interval, or only an upper bound. */
export interface PlaceFigure {
  value: number | null
  low: number | null
  high: number | null
  under: number | null
}

/** Estimated value of a rank on a chart. */
interface PlaceWorth extends PlaceFigure {
  /** Number of apps on the chart that have a figure. */
  n: number
}

/** With fewer figures a chart has no curve. */
const MIN_FIGURES = 5
/**
 * Number of nearest apps whose median is taken; fewer if the chart has fewer. Odd, so that the median is the figure of
 * one app.
 */
const MAX_NEIGHBOURS = 9

/**
 * Returns what each rank of a chart is worth, from rank 1 on, by the figures of the apps on it. Takes the median of the
 * nine nearest apps that have a figure, separately for values, lows and highs, and then makes it fall with the rank
 * (isotonic regression of logarithms; ranks that would rise share their mean). If the median is only an upper bound, so
 * is the result. Null before the first app with a figure and behind the last one: the curve is not extrapolated.
 *
 * Source: pool adjacent violators, Ayer and others, Annals of Mathematical Statistics 26 (1955).
 *
 * Limits: an app's figure covers all storefronts that were read, a chart is of one. The apps of a chart share the error
 * of the store's level, so the interval of the median is as wide as theirs.
 */
export function placeCurve(figures: readonly (PlaceFigure | null)[]): (PlaceWorth | null)[] {
  const placed = figures.flatMap((figure, at): PlacedFigure[] => {
    if (figure?.value) return [{ at, value: figure.value, low: figure.low!, high: figure.high!, isUnder: false }]
    return figure?.under ? [{ at, value: figure.under, low: 0, high: figure.under, isUnder: true }] : []
  })
  if (placed.length < MIN_FIGURES) return figures.map(() => null)
  const [first, last] = [placed[0]!.at, placed.at(-1)!.at]
  const middles = middlesOf(placed, first, last)
  const valued = middles.filter(({ isUnder }) => !isUnder)
  const [values, lows] = [falling(valued.map(({ value }) => value)), falling(valued.map(({ low }) => low))]
  const highs = falling(middles.map(({ high }) => high))
  let at = 0
  const curve = middles.map(({ isUnder }, i): PlaceWorth => {
    const n = placed.length
    if (isUnder) return { value: null, low: null, high: null, under: highs[i]!, n }
    const [value, low] = [values[at]!, lows[at]!]
    at++
    return { value, low: Math.min(low, value), high: Math.max(highs[i]!, value), under: null, n }
  })
  return figures.map((_, place) => curve[place - first] ?? null)
}

interface PlacedFigure {
  at: number
  value: number
  low: number
  high: number
  isUnder: boolean
}

/** Medians from the first app with a figure to the last. The nearest apps of a rank are a contiguous window. */
function middlesOf(figures: readonly PlacedFigure[], first: number, last: number): Omit<PlacedFigure, "at">[] {
  const count = Math.min(MAX_NEIGHBOURS, figures.length - ((figures.length + 1) % 2))
  let from = 0
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const place = first + i
    while (from + count < figures.length && figures[from + count]!.at - place < place - figures[from]!.at) from++
    return middleOf(figures.slice(from, from + count))
  })
}

/** Apps with only an upper bound sort below all others, which the median can handle and a mean cannot. */
function middleOf(near: readonly PlacedFigure[]): Omit<PlacedFigure, "at"> {
  const half = (near.length - 1) / 2
  const middle = near.toSorted((a, b) => belowFirst(a, b) || a.value - b.value)[half]!
  if (middle.isUnder) return middle
  const by = (name: "low" | "high") => near.toSorted((a, b) => a[name] - b[name])[half]![name]
  return { value: middle.value, low: by("low"), high: by("high"), isUnder: false }
}

function belowFirst(one: PlacedFigure, other: PlacedFigure): number {
  return Number(other.isUnder) - Number(one.isUnder)
}

/** Returns the closest non-increasing values, by logarithm. */
function falling(values: readonly number[]): number[] {
  const pools: { mean: number; count: number }[] = []
  for (const value of values) {
    let pool = { mean: Math.log(value), count: 1 }
    for (let last = pools.at(-1); last && last.mean < pool.mean; last = pools.at(-1)) {
      const count = last.count + pool.count
      pool = { mean: (last.mean * last.count + pool.mean * pool.count) / count, count }
      pools.pop()
    }
    pools.push(pool)
  }
  return pools.flatMap(({ mean, count }) => Array.from({ length: count }, () => Math.exp(mean)))
}
