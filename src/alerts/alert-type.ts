import type * as v from "valibot"
import type { Tx } from "../database/types.ts"
import type { AlertFacts } from "./alert-fields.ts"
import type { PlaceDays } from "./search-days.ts"
import type { Wording } from "./wording.ts"

/** What a rule may narrow: falls by places, keywords that have a tag, rivals named by hand. */
export type RuleOption = "dropBy" | "keywordScope" | "rivalScope"

type Facts = v.GenericSchema<object>

/** An alert type, declared once: rules, findings, feed, sentences and messages follow from the list of them (types.ts). */
export interface AlertType<Name extends string = string, Shape extends Facts = Facts> {
  name: Name
  options: readonly RuleOption[]
  facts: Shape
  example: v.InferOutput<Shape>
  /** Reads what a place's days show, of every type that shares the function. Absent if its alerts do not come from readings. */
  find?: Finder
  /** The alert in one English sentence to the app's owner, who is "you"; without a full stop (wording.ts). */
  sentence(facts: v.InferOutput<Shape>, place: Wording): string
  /** Its facts in the flat fields of the feed; the other fields are null. */
  fields(facts: v.InferOutput<Shape>): Partial<AlertFacts>
  /** Longer than the sentence, for messages; names its own day. */
  text?(facts: v.InferOutput<Shape>): string
  /** It depends on more than the readings of its days, so an alert that was told as news is never withdrawn. */
  stands?: true
  /** On Google Play it is of a language, not of a storefront. */
  ofLanguage?: true
  appStoreOnly?: true
  /** It is read of a connected ads account alone. */
  ofAds?: true
}

export type Finder = (tx: Tx, days: PlaceDays) => Promise<FindingOf[]>

/** With type, storefront and day, the subject names a finding. */
export interface FindingOf<Name extends string = string, Shown = object> {
  type: Name
  subject: string
  day: string
  /** When the reading that shows it was seen. */
  at: Date
  facts: Shown
  /** It supports an alert that was told before, and makes no new one: the rival or genre is not the app's any more. */
  keepsOnly?: true
}

export function alertType<const Name extends string, Shape extends Facts>(
  type: AlertType<Name, Shape>,
): AlertType<Name, Shape> {
  return type
}

export function keyOf({ type, subject, day }: Pick<FindingOf, "type" | "subject" | "day">): string {
  return JSON.stringify([type, subject, day])
}
