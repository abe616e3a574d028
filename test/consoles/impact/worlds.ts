import { effectOf } from "../../../src/consoles/impact/effect.ts"
import type { DailyFigures } from "../../../src/consoles/impact/series.ts"
import { randomOf } from "../../stores/parsing/mutations.ts"

export interface World {
  seed: number
  /** Number of days before the change. */
  days: number
  window: number
  /** The effect of the change as a share: 0.2 means 20 % more. */
  effect: number
}

/** Downloads per day: first of the storefront that changes, then of five others, which do not change. */
const SIZES = [100, 150, 100, 70, 50, 30]
const WEEK = [1, 0.95, 0.9, 0.95, 1.05, 1.25, 1.2]
/**
 * Spread of the shocks to all storefronts (SHARED) and to each one (OWN). The share LEFT of a shock remains the next
 * day.
 */
const SHARED = 0.1
const OWN = 0.08
const LEFT = 0.5

/**
 * Returns daily downloads with a weekly pattern, shared and individual shocks, and noise. The change takes effect the
 * day after `days`.
 */
export function downloadsIn({ seed, days, window, effect }: World): {
  treated: DailyFigures[]
  controls: DailyFigures[]
} {
  const random = randomOf(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const shock = (before: number, spread: number) => LEFT * before + spread * Math.sqrt(1 - LEFT ** 2) * normal()
  const values = SIZES.map((): number[] => [])
  const deviations = SIZES.map(() => 0)
  let shared = 0
  for (let day = 0; day <= days + window; day++) {
    shared = shock(shared, SHARED)
    for (const [at, size] of SIZES.entries()) {
      deviations[at] = shock(deviations[at] as number, OWN)
      const changed = at === 0 && day > days ? 1 + effect : 1
      const expected = size * (WEEK[day % 7] as number) * Math.exp(shared + (deviations[at] as number)) * changed
      values[at]?.push(Math.max(0, Math.round(expected + Math.sqrt(expected) * normal())))
    }
  }
  const [treated, ...controls] = values.map((daily, at) => ({ name: `s${at}`, weight: 1, values: daily }))
  return { treated: [treated as DailyFigures], controls }
}

export interface Tally {
  worlds: number
  /** Number of worlds whose interval covers the true effect, and number of worlds whose interval is above zero. */
  covered: number
  found: number
  /** Mean of half the interval's width, as a logarithm. */
  half: number
}

/** Runs the estimator on this many seeded worlds with a known effect. */
export function tallyOf(worlds: number, world: Omit<World, "seed">): Tally {
  const tally = { worlds, covered: 0, found: 0, half: 0 }
  const truth = Math.log(1 + world.effect)
  for (let seed = 1; seed <= worlds; seed++) {
    const figures = { scale: "counts" as const, ...downloadsIn({ seed, ...world }) }
    const effect = effectOf(figures, { at: world.days, leftOut: 1, window: world.window, ownChanges: [] })
    if ("none" in effect) throw new Error(`world ${seed}: ${effect.none}`)
    if (effect.low <= truth && truth <= effect.high) tally.covered++
    if (effect.low > 0) tally.found++
    tally.half += (effect.high - effect.low) / 2 / worlds
  }
  return tally
}

/** Days of history for the simulations: at least 20 windows. */
export const HISTORY = { 7: 220, 14: 365 } as const
