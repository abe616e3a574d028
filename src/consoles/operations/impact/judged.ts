import { type Effect, effectOf, type NoEffect } from "../../impact/effect.ts"
import { holdsAgainstPlacebos, holmAdjusted, type Verdict, verdictOf } from "../../impact/verdict.ts"
import { TREATMENTS, type Treatment } from "./changed-day.ts"
import type { OutcomeFigures, OutcomeName } from "./outcome.ts"

export interface JudgedOutcome extends OutcomeFigures {
  isPrimary: boolean
  /** Null before the window is over: who looks every day would pick a day that suits. */
  effect: Effect | NoEffect | null
  /** As Effect.asLarge; of several that are not the primary as far as they were all looked at. */
  chance: number | null
  verdict: Verdict
}

/** What each kind of change is judged by: the first that there is, and has been for long enough. */
const JUDGED_BY: Record<Treatment, OutcomeName[]> = {
  price: ["proceeds_per_download"],
  name: ["search_impressions", "ranks", "downloads"],
  subtitle: ["conversion", "downloads"],
  screenshots: ["conversion", "downloads"],
  icon: ["conversion", "downloads"],
  promotional_text: ["conversion", "downloads"],
  description: ["conversion", "downloads"],
}

/** The kind that a day with several is judged as. */
export function leadingKind(kinds: readonly Treatment[]): Treatment {
  return TREATMENTS.find((kind) => kinds.includes(kind)) as Treatment
}

/** All outcomes with what may be said of each, the primary first. It is chosen by the kind of change, before any figure is looked at. */
export function judgedOutcomes(
  all: readonly OutcomeFigures[],
  kind: Treatment,
  isConfounded: boolean,
): JudgedOutcome[] {
  const primary = JUDGED_BY[kind].find((name) => all.some((one) => one.outcome === name && !one.isYoung))
  const effects = all.map((one) => (one.isComplete ? effectOf(one.comparison, one.span.changed) : null))
  const chances = effects.map((effect) => (effect && "asLarge" in effect ? effect.asLarge : null))
  const others = all.flatMap(({ outcome }, at) => (outcome === primary || chances[at] === null ? [] : [at]))
  const adjusted = holmAdjusted(others.map((at) => chances[at] as number))
  for (const [place, at] of others.entries()) chances[at] = adjusted[place] as number
  const judged = all.map((one, at): JudgedOutcome => {
    const [effect, chance] = [effects[at] ?? null, chances[at] ?? null]
    const { isComplete, better } = one
    const circumstances = { isComplete, isConfounded, better, chance: chance ?? 1 }
    const verdict = verdictOf(effect ?? { none: "unknown_days" }, circumstances)
    return { ...one, isPrimary: one.outcome === primary, effect, chance, verdict }
  })
  return judged.sort((a, b) => Number(b.isPrimary) - Number(a.isPrimary))
}

type Standing = "association" | "holds_against_placebos"

export function standingOf(outcome: JudgedOutcome | undefined): Standing | null {
  if (!outcome || (outcome.verdict !== "improved" && outcome.verdict !== "worse")) return null
  return holdsAgainstPlacebos(outcome.effect as Effect) ? "holds_against_placebos" : "association"
}
