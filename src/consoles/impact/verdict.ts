import type { Effect, NoEffect } from "./effect.ts"

export const VERDICTS = [
  "improved", "worse", "no_clear_change", "too_early", "not_enough_data", "confounded", "cannot_tell",
] as const // biome-ignore format: a list to scan
export type Verdict = (typeof VERDICTS)[number]

/** Two-sided: what a 90 % interval leaves out. */
const CHANCE = 0.1

interface Circumstances {
  /** The window is over and its days are known. */
  isComplete: boolean
  /** Something else of the app's own changed near, in what was changed. */
  isConfounded: boolean
  /** Whether more is better: fewer is of places. */
  better: "higher" | "lower"
  /** The share of earlier days with as large a move, as far as several outcomes were looked at. */
  chance: number
}

/** What may be said of an effect, the reasons to say less first. */
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

/** Whether it holds against both placebos: few earlier days and none of the controls moved as far by themselves. */
export function holdsAgainstPlacebos(effect: Effect): boolean {
  return effect.asLarge <= CHANCE && effect.space !== null && effect.space.controls > 0 && effect.space.asLarge === 0
}

/** Shares as they stand when several outcomes were looked at (Holm 1979), in the order given. */
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
