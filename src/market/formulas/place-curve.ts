/** A figure of an app: a value with its interval, or only an amount that it is under. */
export interface PlaceFigure {
  value: number | null
  low: number | null
  high: number | null
  under: number | null
}

/** What a place of a list brings. */
interface PlaceWorth extends PlaceFigure {
  /** Apps of the list that have a figure. */
  n: number
}

/** With fewer a list says nothing of its places. */
const LEAST_FIGURES = 5
/** The middle is that of so many apps around a place, where there are as many: an odd number. */
const MOST_AROUND = 9

/**
 * What each place of a list brings, by the figures of the apps on it, the first place first: the middle of the nine nearest
 * that have one, of values, lows and highs each for itself, and then made to fall with the place (isotonic regression of
 * logarithms; places that would rise share their mean). Where the middle is only under an amount, so is the place. A place
 * before the first app with a figure, or behind the last, has none: no curve is drawn on.
 *
 * Source: pool adjacent violators, Ayer and others, Annals of Mathematical Statistics 26 (1955).
 *
 * Limits: figures of apps are of all storefronts that were read, the list is of one; a list's apps share the error of the
 * store's level, so that the interval of the middle is as wide as theirs.
 */
export function placeCurve(figures: readonly (PlaceFigure | null)[]): (PlaceWorth | null)[] {
  const held = figures.flatMap((figure, at): PlacedFigure[] => {
    if (figure?.value) return [{ at, value: figure.value, low: figure.low!, high: figure.high!, isUnder: false }]
    return figure?.under ? [{ at, value: figure.under, low: 0, high: figure.under, isUnder: true }] : []
  })
  if (held.length < LEAST_FIGURES) return figures.map(() => null)
  const [first, last] = [held[0]!.at, held.at(-1)!.at]
  const middles = middlesOf(held, first, last)
  const valued = middles.filter(({ isUnder }) => !isUnder)
  const [values, lows] = [falling(valued.map(({ value }) => value)), falling(valued.map(({ low }) => low))]
  const highs = falling(middles.map(({ high }) => high))
  let at = 0
  const curve = middles.map(({ isUnder }, i): PlaceWorth => {
    const n = held.length
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

/** Of each place from the first app with a figure to the last; the nearest of a place stand side by side. */
function middlesOf(held: readonly PlacedFigure[], first: number, last: number): Omit<PlacedFigure, "at">[] {
  const count = Math.min(MOST_AROUND, held.length - ((held.length + 1) % 2))
  let from = 0
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const place = first + i
    while (from + count < held.length && held[from + count]!.at - place < place - held[from]!.at) from++
    return middleOf(held.slice(from, from + count))
  })
}

/** Apps that are only under an amount stand below all others: of those the middle is asked, not the mean. */
function middleOf(near: readonly PlacedFigure[]): Omit<PlacedFigure, "at"> {
  const half = (near.length - 1) / 2
  const middle = near.toSorted((one, other) => belowFirst(one, other) || one.value - other.value)[half]!
  if (middle.isUnder) return middle
  const by = (name: "low" | "high") => near.toSorted((one, other) => one[name] - other[name])[half]![name]
  return { value: middle.value, low: by("low"), high: by("high"), isUnder: false }
}

function belowFirst(one: PlacedFigure, other: PlacedFigure): number {
  return Number(other.isUnder) - Number(one.isUnder)
}

/** The nearest values that never rise, of logarithms. */
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
