import * as v from "valibot"
import { described, named } from "../../../lib/schema.ts"
import { PageChangeKind } from "../../../listings/operations/listing-shapes.ts"
import { Count, Rank, Storefront } from "../../../tracking/shapes.ts"
import type { Effect } from "../../impact/effect.ts"
import { VERDICTS } from "../../impact/verdict.ts"
import { REPORT_ZONE } from "../../pacific.ts"
import type { JudgedOutcome } from "./judged.ts"
import { OUTCOMES } from "./outcome.ts"
import { percentOf } from "./sentence.ts"

const ZonedDay = v.pipe(v.string(), v.isoDate(), v.description("A day of the outcome's dayZone, YYYY-MM-DD."))
const Stretch = v.strictObject({ from: ZonedDay, to: ZonedDay })
const Percent = v.number()
const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

const OutcomeName = named("ImpactOutcomeName", v.picklist(OUTCOMES))

export const Verdict = named(
  "ImpactVerdict",
  v.picklist(VERDICTS),
  "improved, worse: the 90 % interval leaves out nothing having happened; no_clear_change: it does not, see leastDetectable; too_early: the window is not over; not_enough_data; confounded: something else of the app's own changed near; cannot_tell: too little stayed unchanged to compare with.",
)

export const Overlap = named(
  "ImpactOverlap",
  v.strictObject({
    kind: PageChangeKind,
    country: Storefront,
    day: described(v.pipe(v.string(), v.isoDate()), "The UTC day on which it was seen."),
    own: described(v.boolean(), "False = of a rival that is followed."),
    confounds: described(
      v.boolean(),
      "The verdict says so. A version is in all storefronts, also in those compared with; a rival's doings are no doing of the app.",
    ),
  }),
)

export const Outcome = named(
  "ImpactOutcome",
  v.strictObject({
    outcome: described(
      OutcomeName,
      "search_impressions: how often the app was shown in results of searches; conversion: first downloads per page view, as the console's analytics count both; ranks: places of keywords in one storefront, by their ratio, so that fewer is better; downloads: first downloads; proceeds_per_download: in each storefront's own currency.",
    ),
    primary: described(
      v.boolean(),
      "The one that the kind of change is judged by; fixed before figures are looked at. Analytics that are known for too short a time are none.",
    ),
    country: described(v.nullable(Storefront), "Of ranks; else null."),
    treated: described(
      v.array(v.string()),
      "Storefronts that changed; of ranks the keywords whose words came or went.",
    ),
    dayZone: described(
      v.nullable(v.picklist(["UTC", REPORT_ZONE])),
      "Whose days those of its figures are; null = Apple does not say it of its analytics.",
    ),
    before: described(Stretch, "Days compared with; those between before and after are left out."),
    after: described(Stretch, "The window."),
    complete: described(
      v.boolean(),
      "False = the window is not over, or its last days are not known: no figure is given.",
    ),
    verdict: Verdict,
    method: described(
      v.nullable(v.picklist(["difference_in_differences", "before_after"])),
      "difference_in_differences: what the weighted controls did is taken off; before_after: fewer than 3 controls, nothing is. Null without an effect.",
    ),
    effectPercent: described(
      v.nullable(Percent),
      "After against before, less what the controls did. Null = none is stated.",
    ),
    lowPercent: described(
      v.nullable(Percent),
      "Lower end of the 90 % interval, from what the same reckoning gives of earlier days.",
    ),
    highPercent: described(v.nullable(Percent), "Its upper end."),
    leastDetectablePercent: described(
      v.nullable(Percent),
      "The least effect that would be found four times of five: smaller ones are mostly not seen.",
    ),
    treatedPercent: described(v.nullable(Percent), "What the changed ones did, nothing taken off."),
    controlsPercent: described(v.nullable(Percent), "What the weighted controls did; null without any."),
    controls: described(
      v.array(v.strictObject({ name: v.string(), weight: Share })),
      "Unchanged storefronts or keywords that together moved most as the changed ones did before, with a weight of 0.001 and more.",
    ),
    earlierDays: described(v.nullable(Count), "Earlier days of which the same was reckoned."),
    earlierNeeded: described(v.nullable(Rank), "Where there are too few of them: how many are needed."),
    chance: described(
      v.nullable(Share),
      "The share of earlier days that moved as far by themselves; of outcomes that are not primary adjusted for their number (Holm).",
    ),
    placebos: described(
      v.nullable(v.strictObject({ controls: Count, asLarge: Count })),
      "Controls reckoned as if they had changed, and how many of those moved as far for their own spread. Null without controls.",
    ),
  }),
)

export function outcomeShape(judged: JudgedOutcome): v.InferOutput<typeof Outcome> {
  const { outcome, isPrimary, country, treated, span, isComplete, verdict, effect, chance } = judged
  const { dayZone, before, after } = span
  return {
    ...{ outcome, primary: isPrimary, country, treated, dayZone, before, after, complete: isComplete, verdict },
    ...(effect && "method" in effect ? effectShape(effect) : NO_EFFECT),
    ...(effect && "needed" in effect && { earlierDays: effect.days, earlierNeeded: effect.needed }),
    chance: chance === null ? null : rounded(chance),
  }
}

const NO_EFFECT = {
  ...{ method: null, effectPercent: null, lowPercent: null, highPercent: null, leastDetectablePercent: null },
  ...{
    treatedPercent: null,
    controlsPercent: null,
    controls: [],
    earlierDays: null,
    earlierNeeded: null,
    placebos: null,
  },
}

function effectShape(effect: Effect) {
  const { method, moved, controlsMoved, low, high, leastDetectable, controls, days, space } = effect
  return {
    method,
    effectPercent: percentOf(effect.effect),
    lowPercent: percentOf(low),
    highPercent: percentOf(high),
    leastDetectablePercent: percentOf(leastDetectable),
    treatedPercent: percentOf(moved),
    controlsPercent: controlsMoved === null ? null : percentOf(controlsMoved),
    controls: controls
      .map(({ name, weight }) => ({ name, weight: rounded(weight) }))
      .filter(({ weight }) => weight > 0)
      .sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1)),
    earlierDays: days,
    earlierNeeded: null,
    placebos: space,
  }
}

function rounded(share: number): number {
  return Math.round(1_000 * share) / 1_000
}
