import { type Effect, effectOf, type NoEffect } from "../../impact/effect.ts"
import { holdsAgainstPlacebos, holmAdjusted, type Verdict, verdictOf } from "../../impact/verdict.ts"
import { TREATMENTS, type Treatment } from "./changed-day.ts"
import type { OutcomeFigures, OutcomeName } from "./outcome.ts"

export interface JudgedOutcome extends OutcomeFigures {
  isPrimary: boolean
  /** Null before the window is over: a caller who looked every day could pick a favourable day. */
  effect: Effect | NoEffect | null
  /** See Effect.asLarge. Corrected for the number of outcomes tested, except for the primary one. */
  chance: number | null
  verdict: Verdict
}

/**
 * The outcomes that can be primary for each kind of change, in order of preference. The first one that exists and has
 * been measured for long enough is used.
 */
const JUDGED_BY: Record<Treatment, OutcomeName[]> = {
  price: ["proceeds_per_download"],
  // Google Play counts no impressions, but it counts the visitors that a new name brings.
  name: ["search_impressions", "ranks", "store_visitors", "downloads"],
  subtitle: ["conversion", "downloads"],
  screenshots: ["conversion", "downloads"],
  icon: ["conversion", "downloads"],
  promotional_text: ["conversion", "downloads"],
  description: ["conversion", "downloads"],
}

/** Returns the kind of change by which a day with several changes is judged. */
export function leadingKind(kinds: readonly Treatment[]): Treatment {
  return TREATMENTS.find((kind) => kinds.includes(kind)) as Treatment
}

/**
 * Returns all outcomes with their verdicts, the primary one first. The kind of change selects the primary outcome
 * before any figures are seen.
 */
export function judgedOutcomes(
  all: readonly OutcomeFigures[],
  kind: Treatment,
  isConfounded: boolean,
): JudgedOutcome[] {
  const primary = JUDGED_BY[kind].find((name) => all.some((item) => item.outcome === name && !item.isYoung))
  const effects = all.map((item) => (item.isComplete ? effectOf(item.comparison, item.span.changed) : null))
  const chances = effects.map((effect) => (effect && "asLarge" in effect ? effect.asLarge : null))
  const secondary = all.flatMap(({ outcome }, at) => (outcome === primary || chances[at] === null ? [] : [at]))
  const adjusted = holmAdjusted(secondary.map((at) => chances[at] as number))
  for (const [place, at] of secondary.entries()) chances[at] = adjusted[place] as number
  const judged = all.map((item, at): JudgedOutcome => {
    const [effect, chance] = [effects[at] ?? null, chances[at] ?? null]
    const { isComplete, better } = item
    const circumstances = { isComplete, isConfounded, better, chance: chance ?? 1 }
    const verdict = verdictOf(effect ?? { none: "unknown_days" }, circumstances)
    return { ...item, isPrimary: item.outcome === primary, effect, chance, verdict }
  })
  return judged.sort((a, b) => Number(b.isPrimary) - Number(a.isPrimary))
}

type Standing = "association" | "holds_against_placebos"

export function standingOf(outcome: JudgedOutcome | undefined): Standing | null {
  if (!outcome || (outcome.verdict !== "improved" && outcome.verdict !== "worse")) return null
  return holdsAgainstPlacebos(outcome.effect as Effect) ? "holds_against_placebos" : "association"
}
