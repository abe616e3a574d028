/** A count out of a total: `named` of `of`. */
export interface Proportion {
  named: number
  of: number
}

export interface Interval {
  low: number
  high: number
}

/** Quantile of the normal distribution for 95 %. */
const Z = 1.959964

/**
 * Returns the Wilson interval of 95 %, 0 to 1. Null for an empty sample. Source: Wilson 1927; Brown, Cai, DasGupta
 * 2001.
 */
export function wilson({ named, of }: Proportion): Interval | null {
  if (of === 0) return null
  const [share, spread] = [named / of, Z ** 2 / of]
  const middle = (share + spread / 2) / (1 + spread)
  const half = (Z / (1 + spread)) * Math.sqrt((share * (1 - share)) / of + spread / (4 * of))
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

const DRAWS = 2_000

/**
 * Returns the 95 % interval of the share over all groups of answers, where the answers within a group (to one question)
 * are correlated. Whole groups are resampled (bootstrap). The interval is at least as wide as Wilson's, because groups
 * that all agree would have no width. The draws are the same each time. Null for fewer than two groups. Source: Davison
 * and Hinkley 1997, 2.4 and 3.8.
 */
export function pooledInterval(groups: readonly Proportion[]): Interval | null {
  const nonEmpty = groups.filter(({ of }) => of > 0)
  if (nonEmpty.length < 2) return null
  const random = randomFrom(nonEmpty.length)
  const shares = Array.from({ length: DRAWS }, () => {
    const drawn = nonEmpty.map(() => nonEmpty[Math.floor(random() * nonEmpty.length)] as Proportion)
    return shareOf(sumOf(drawn))
  }).toSorted((a, b) => a - b)
  const apart = wilson(sumOf(nonEmpty)) as Interval
  const [low, high] = [shares[Math.floor(0.025 * DRAWS)]!, shares[Math.ceil(0.975 * DRAWS) - 1]!]
  return { low: Math.min(low, apart.low), high: Math.max(high, apart.high) }
}

function sumOf(parts: readonly Proportion[]): Proportion {
  const sum = { named: 0, of: 0 }
  for (const { named, of } of parts) {
    sum.named += named
    sum.of += of
  }
  return sum
}

function shareOf({ named, of }: Proportion): number {
  return named / of
}

/** Returns a seeded random generator (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Returns the p-value for the difference of two proportions: Fisher's exact test, two-sided. */
export function fisher(one: Proportion, other: Proportion): number {
  const all = sumOf([one, other])
  const chance = (named: number) => {
    return Math.exp(choose(one.of, named) + choose(other.of, all.named - named) - choose(all.of, all.named))
  }
  const seen = chance(one.named)
  let sum = 0
  for (let named = Math.max(0, all.named - other.of); named <= Math.min(one.of, all.named); named++) {
    const probability = chance(named)
    if (probability <= seen * (1 + 1e-9)) sum += probability
  }
  return Math.min(1, sum)
}

/** Returns the logarithm of the binomial coefficient. */
function choose(of: number, chosen: number): number {
  let sum = 0
  for (let at = 1; at <= chosen; at++) sum += Math.log((of - chosen + at) / at)
  return sum
}
