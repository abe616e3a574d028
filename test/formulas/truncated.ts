/** y = start + slope · x, with normal errors of standard deviation `spread`. */
export interface Line {
  start: number
  slope: number
  spread: number
}

export interface Pair {
  x: number
  y: number
}

/**
 * The line of greatest likelihood when pairs were only kept because y is at least `least`: an ordinary regression would
 * take the terms that were left out for terms that do not exist, and lie too high and too flat. Found by trying steps ever
 * smaller in each direction, from the ordinary line; the same every time.
 */
export function truncatedLine(pairs: readonly Pair[], least: number): Line {
  const middle = mean(pairs.map(({ x }) => x))
  const line = plainLine(pairs)
  // the height at the middle instead of the start: the two are nearly independent
  const lineAt = ([height, slope, log]: number[]): Line => ({
    start: height! - slope! * middle,
    slope: slope!,
    spread: Math.exp(log!),
  })
  return greatest(pairs, least, {
    from: [line.start + line.slope * middle, line.slope, Math.log(line.spread)],
    widths: [8, 1, 1],
    lineAt,
  })
}

/** The same with the line's start held: only its slope is fitted. */
export function truncatedSlope(pairs: readonly Pair[], least: number, start: number): Line {
  const ordinary = plainLine(pairs)
  const lineAt = ([slope, log]: number[]): Line => ({ start, slope: slope!, spread: Math.exp(log!) })
  return greatest(pairs, least, { from: [ordinary.slope, Math.log(ordinary.spread)], widths: [1, 1], lineAt })
}

/** The ordinary least squares line. */
export function plainLine(pairs: readonly Pair[]): Line {
  const [mx, my] = [mean(pairs.map(({ x }) => x)), mean(pairs.map(({ y }) => y))]
  const slope =
    pairs.reduce((sum, { x, y }) => sum + (x - mx) * (y - my), 0) / pairs.reduce((sum, { x }) => sum + (x - mx) ** 2, 0)
  const start = my - slope * mx
  return { start, slope, spread: rms(pairs.map(({ x, y }) => y - start - slope * x)) }
}

/** What y is on average at x among those that are at least `least`. */
export function expectedAbove({ start, slope, spread }: Line, x: number, least: number): number {
  const height = start + slope * x
  const z = (least - height) / spread
  return height + (spread * density(z)) / upperTail(z)
}

export function rms(errors: readonly number[]): number {
  return Math.sqrt(mean(errors.map((error) => error ** 2)))
}

interface Search {
  from: number[]
  /** Of the first step in each direction. */
  widths: number[]
  lineAt(at: number[]): Line
}

function greatest(pairs: readonly Pair[], least: number, { from, widths, lineAt }: Search): Line {
  let at = from
  let best = misfit(pairs, lineAt(at), least)
  for (let step = 1; step > 1e-5; step /= 2) {
    for (let moved = true; moved; ) {
      moved = false
      for (const next of around(
        at,
        widths.map((width) => width * step),
      )) {
        const other = misfit(pairs, lineAt(next), least)
        if (other < best) [best, at, moved] = [other, next, true]
      }
    }
  }
  return lineAt(at)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function* around(at: number[], steps: number[]): Generator<number[]> {
  for (const [i, step] of steps.entries()) {
    for (const sign of [1, -1]) yield at.with(i, at[i]! + sign * step)
  }
}

/** The negative logarithm of the likelihood. */
function misfit(pairs: readonly Pair[], { start, slope, spread }: Line, least: number): number {
  return pairs.reduce((sum, { x, y }) => {
    const height = start + slope * x
    const z = (y - height) / spread
    return sum + z ** 2 / 2 + Math.log(spread) + Math.log(upperTail((least - height) / spread))
  }, 0)
}

function density(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
}

/** The share of a normal distribution above z: a polynomial (Abramowitz and Stegun 26.2.17, right to 7.5e-8), far out its asymptote. */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z)
  if (z > 6) return density(z) / (z + 1 / z)
  const t = 1 / (1 + 0.2316419 * z)
  const series = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  return density(z) * series.reduce((sum, factor, power) => sum + factor * t ** (power + 1), 0)
}
