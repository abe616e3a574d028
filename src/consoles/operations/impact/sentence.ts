import type { Effect, NoEffect } from "../../impact/effect.ts"
import type { JudgedOutcome } from "./judged.ts"
import { standingOf } from "./judged.ts"
import type { OutcomeName } from "./outcome.ts"

const NAMES: Record<OutcomeName, string> = {
  search_impressions: "Impressions in search",
  conversion: "First downloads per page view",
  ranks: "Ranks of the keywords whose words changed",
  store_visitors: "Visitors of the store page",
  acquisitions: "Installs by visitors of the store page",
  downloads: "First downloads",
  proceeds_per_download: "Proceeds per first download",
}

/** Returns the verdict on the primary outcome as one English sentence. */
export function sentenceOf(outcome: JudgedOutcome | undefined): string {
  if (!outcome) return "Not enough data: the figures by which this kind of change is judged are not read."
  const { verdict, effect, span } = outcome
  if (verdict === "too_early")
    return (
      `Too early: the window ends on ${span.after.to}${span.dayZone ? ` (${span.dayZone})` : ""}, and the figures ` +
      "of its last days are needed."
    )
  if (verdict === "not_enough_data") return `Not enough data: ${whyNoEffect(effect as NoEffect, outcome)}.`
  const found = effect as Effect
  const moved =
    `${NAMES[outcome.outcome]} ${movedBy(found.effect)} (90 % interval ${percent(found.low)} to ` +
    `${percent(found.high)})`
  switch (verdict) {
    case "confounded":
      return (
        `${moved}, but another change of the app or of its ad spend falls within the window (overlaps, adsSpend): ` +
        "the effects cannot be separated."
      )
    case "cannot_tell":
      return (
        `${moved} from before to after, but fewer than 3 others stayed unchanged: what would have happened ` +
        "without the change is unknown."
      )
    case "no_clear_change":
      return (
        `No clear change: ${moved.charAt(0).toLowerCase()}${moved.slice(1)}; a change of less than about ` +
        `${percent(found.leastDetectable)} would usually not be detected.`
      )
    default:
      return (
        `${moved}, compared with ${found.controls.length} that stayed unchanged: ` +
        `${STANDING[standingOf(outcome) as keyof typeof STANDING]}.`
      )
  }
}

const STANDING = {
  association: "an association, not proof",
  holds_against_placebos:
    "larger than on earlier days and than for each control; most chance findings are too, so this is no proof",
}

function whyNoEffect(effect: NoEffect, { span }: JudgedOutcome): string {
  switch (effect.none) {
    case "unknown_change_day":
      return `the page was not read for ${span.changed.leftOut} days, and it changed during them`
    case "unknown_days":
      return "too many days before or after the change are unknown or without payments"
    case "too_few_counts":
      return "there are fewer than 3 counts a day, too few to compare"
    case "too_few_days":
      return `only ${effect.days} earlier days can be compared, and ${effect.needed} are needed`
  }
}

function movedBy(effect: number): string {
  const by = percentOf(effect)
  if (by === 0) return "stayed unchanged"
  return by > 0 ? `rose by ${by} %` : `fell by ${-by} %`
}

function percent(effect: number): string {
  return `${percentOf(effect)} %`
}

/** Converts the logarithm of a ratio to percent, with one decimal so that every machine gives the same result. */
export function percentOf(effect: number): number {
  return Math.round(1_000 * Math.expm1(effect)) / 10 + 0
}
