import type * as v from "valibot"
import type { Tx } from "../database/types.ts"
import type { AlertFacts } from "./alert-fields.ts"
import type { PlaceDays } from "./search-days.ts"
import type { Wording } from "./wording.ts"

/** Options that narrow a rule: minimum drop, only tagged keywords, only rivals named by hand. */
export type RuleOption = "dropBy" | "keywordScope" | "rivalScope"

type Facts = v.GenericSchema<object>

/** An alert type. Rules, findings, feed, sentences and messages follow from this one declaration (see types.ts). */
export interface AlertType<
  Name extends string = string,
  Shape extends Facts = Facts,
  Options extends readonly RuleOption[] = readonly RuleOption[],
> {
  name: Name
  options: Options
  facts: Shape
  example: v.InferOutput<Shape>
  /**
   * Finds the alerts of a place's days, for all types that share the function. Absent if the alerts do not come from
   * readings.
   */
  find?: Finder
  /** Returns one English sentence to the app's owner, who is "you", without a full stop (wording.ts). */
  sentence(facts: v.InferOutput<Shape>, place: Wording): string
  /** Returns the alert's values of the flat fields; all other fields are null. */
  fields(facts: v.InferOutput<Shape>): Partial<AlertFacts>
  /** Returns a longer text for messages, which includes the day. */
  text?(facts: v.InferOutput<Shape>): string
  /**
   * True if the alert depends on more than the readings of its days. Once delivered as news, such an alert is never
   * withdrawn.
   */
  stands?: true
  /** True if on Google Play the alert belongs to a language rather than a storefront. */
  ofLanguage?: true
  appStoreOnly?: true
  /** True if alerts of this type come only from a connected ads account. */
  ofAds?: true
  /** True if the alert names the workspace's money, such as bids and budgets. Public feeds leave such alerts out. */
  hasMoney?: true
}

export type Finder = (tx: Tx, days: PlaceDays) => Promise<FindingOf[]>

/** A change that readings show. Type, storefront, day and subject identify it. */
export interface FindingOf<Name extends string = string, Shown = object> {
  type: Name
  subject: string
  day: string
  /** Time of the reading that shows it. */
  at: Date
  facts: Shown
  /** True if the finding only confirms an existing alert, because its rival or genre no longer belongs to the app. */
  keepsOnly?: true
}

export function alertType<const Name extends string, Shape extends Facts, const Options extends readonly RuleOption[]>(
  type: AlertType<Name, Shape, Options>,
): AlertType<Name, Shape, Options> {
  return type
}

/** Returns a line of types.ts. The compiler refuses a name or options that differ from the declaration. */
export function alertEntry<Declared extends { name: string; options: readonly RuleOption[] }>(
  _name: Declared["name"],
  declared: Declared,
  ..._options: Declared["options"]
): Declared {
  return declared
}

export function keyOf({ type, subject, day }: Pick<FindingOf, "type" | "subject" | "day">): string {
  return JSON.stringify([type, subject, day])
}
