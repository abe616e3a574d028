import type { Effect, NoEffect } from "./effect.ts"

export const VERDICTS = [
  "improved",
  "worse",
  "no_clear_change",
  "too_early",
  "not_enough_data",
  "confounded",
  "cannot_tell",
] as const
export type Verdict = (typeof VERDICTS)[number]

/** Maximum share of earlier days with as large a move: the complement of a 90 % interval, two-sided. */
const CHANCE = 0.1

interface Circumstances {
  /** True if the window has ended and the figures of all its days are known. */
  isComplete: boolean
  /** True if another change of the app, or of its ad spend, at about the same time affects the same figures. */
  isConfounded: boolean
  /** Whether higher or lower is better. Lower for ranks. */
  better: "higher" | "lower"
  /** Share of earlier days with as large a move, corrected for the number of outcomes tested. */
  chance: number
}

/** Returns the verdict on an effect. Reasons for a weaker verdict are checked first. */
export function verdictOf(
  effect: Effect | NoEffect,
  { isComplete, isConfounded, better, chance }: Circumstances,
): Verdict {
  if (!isComplete) return "too_early"
  if ("none" in effect) return "not_enough_data"
  if (isConfounded) return "confounded"
  if (effect.method === "before_after") return "cannot_tell"
  if ((effect.low <= 0 && effect.high >= 0) || chance > CHANCE) return "no_clear_change"
  return effect.effect > 0 === (better === "higher") ? "improved" : "worse"
}

/**
 * Returns true if both placebo tests support the effect: only few earlier days, and no control, moved as far without
 * the change.
 */
export function holdsAgainstPlacebos(effect: Effect): boolean {
  return effect.asLarge <= CHANCE && effect.space !== null && effect.space.controls > 0 && effect.space.asLarge === 0
}

/** Returns the shares corrected for the number of outcomes tested (Holm 1979), in the given order. */
export function holmAdjusted(shares: readonly number[]): number[] {
  const order = shares.map((_, at) => at).sort((a, b) => (shares[a] as number) - (shares[b] as number) || a - b)
  const adjusted = [...shares]
  let least = 0
  for (const [place, at] of order.entries()) {
    least = Math.max(least, Math.min(1, (shares.length - place) * (shares[at] as number)))
    adjusted[at] = least
  }
  return adjusted
}
