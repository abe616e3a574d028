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
  "improved, worse: the 90 % interval excludes zero; no_clear_change: it includes zero, see " +
    "leastDetectablePercent; too_early: the window is not over; not_enough_data; confounded: another change of the " +
    "app or of its ad spend falls in the same period; cannot_tell: too little stayed unchanged for a comparison.",
)

export const Overlap = named(
  "ImpactOverlap",
  v.strictObject({
    kind: PageChangeKind,
    country: Storefront,
    day: described(v.pipe(v.string(), v.isoDate()), "UTC day of the first reading with the change."),
    own: described(v.boolean(), "False for a change by a rival."),
    confounds: described(
      v.boolean(),
      "True if this change makes the verdict confounded. A version reaches all storefronts, including the " +
        "controls, and changes by rivals do not confound.",
    ),
  }),
)

export const Outcome = named(
  "ImpactOutcome",
  v.strictObject({
    outcome: described(
      OutcomeName,
      "search_impressions: impressions in search results; conversion: first downloads per page view in the " +
        "console's analytics; ranks: ranks of keywords in one storefront, compared by ratio, so lower is better; " +
        "downloads: first downloads; proceeds_per_download: in each storefront's currency. On Google Play: " +
        "store_visitors: visitors who did not have the app; acquisitions: installs by these visitors; conversion: " +
        "acquisitions per visitor; downloads: users who installed the app from anywhere.",
    ),
    primary: described(
      v.boolean(),
      "True for the outcome by which this kind of change is judged. It is fixed before any figures are seen. " +
        "Analytics known for too short a time are never primary.",
    ),
    country: described(v.nullable(Storefront), "Storefront of the ranks. Null for other outcomes."),
    treated: described(
      v.array(v.string()),
      "Storefronts that changed; for ranks, keywords whose words were added or removed.",
    ),
    dayZone: described(
      v.nullable(v.picklist(["UTC", REPORT_ZONE])),
      "Time zone of the days. Null if unknown: Apple does not publish that of its analytics.",
    ),
    before: described(Stretch, "The days before the change. The days between before and after are excluded."),
    after: described(Stretch, "The window."),
    complete: described(
      v.boolean(),
      "False if the window is not over or its last days are unknown; there are then no figures.",
    ),
    verdict: Verdict,
    method: described(
      v.nullable(v.picklist(["difference_in_differences", "before_after"])),
      "difference_in_differences: the change of the weighted controls is subtracted; before_after: there are " +
        "fewer than 3 controls, so nothing is subtracted. Null without an effect.",
    ),
    effectPercent: described(
      v.nullable(Percent),
      "Change from before to after, minus the change of the controls. Null if not available.",
    ),
    lowPercent: described(
      v.nullable(Percent),
      "Lower end of the 90 % interval, from the same calculation on earlier days.",
    ),
    highPercent: described(v.nullable(Percent), "Upper end of the interval."),
    leastDetectablePercent: described(
      v.nullable(Percent),
      "Smallest effect that would be detected in four of five cases.",
    ),
    treatedPercent: described(v.nullable(Percent), "Change of the treated figures, without subtraction."),
    controlsPercent: described(v.nullable(Percent), "Change of the weighted controls. Null without controls."),
    controls: described(
      v.array(v.strictObject({ name: v.string(), weight: Share })),
      "Unchanged storefronts or keywords. Their weighted mix moved most like the changed ones before the change. " +
        "Weights below 0.001 are omitted.",
    ),
    earlierDays: described(v.nullable(Count), "Number of earlier days to which the same calculation was applied."),
    earlierNeeded: described(v.nullable(Rank), "Number of earlier days needed, if there are too few."),
    chance: described(
      v.nullable(Share),
      "Share of earlier days that moved as far by chance. For all outcomes except the primary one, corrected for " +
        "the number of outcomes (Holm).",
    ),
    placebos: described(
      v.nullable(v.strictObject({ controls: Count, asLarge: Count })),
      "Number of controls that were tested as if they had changed, and how many of them moved at least as far, " +
        "relative to their own spread. Null without controls.",
    ),
  }),
)

export function outcomeShape(judged: JudgedOutcome): v.InferOutput<typeof Outcome> {
  const { outcome, isPrimary, country, treated, span, isComplete, verdict, effect, chance } = judged
  const { dayZone, before, after } = span
  return {
    outcome,
    primary: isPrimary,
    country,
    treated,
    dayZone,
    before,
    after,
    complete: isComplete,
    verdict,
    ...(effect && "method" in effect ? effectShape(effect) : NO_EFFECT),
    ...(effect && "needed" in effect && { earlierDays: effect.days, earlierNeeded: effect.needed }),
    chance: chance === null ? null : rounded(chance),
  }
}

const NO_EFFECT = {
  method: null,
  effectPercent: null,
  lowPercent: null,
  highPercent: null,
  leastDetectablePercent: null,
  treatedPercent: null,
  controlsPercent: null,
  controls: [],
  earlierDays: null,
  earlierNeeded: null,
  placebos: null,
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
