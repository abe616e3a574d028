import * as v from "valibot"
import { CHARTS, DEVICES } from "../lib/charts.ts"
import { described } from "../lib/schema.ts"
import { Day, Rank, Source } from "../lib/shapes.ts"
import type { ListingChangeKind } from "../listings/changes.ts"
import { AdsChanges } from "./ads-changes.ts"
import { Week } from "./week.ts"

export const RIVAL_CHANGES = [
  "version",
  "price",
  "name",
  "icon",
  "screenshots",
  "rating_jump",
] as const satisfies readonly ListingChangeKind[]

const Value = v.nullable(v.union([v.number(), v.string()]))

/** The flat fields of all alert types. Every alert has all of them, null where they do not apply. */
export const AlertFields = v.strictObject({
  term: described(v.nullable(v.string()), "The keyword. Null if the alert concerns none."),
  rivalId: described(v.nullable(v.string()), "Store id of the rival. Null if the alert concerns none."),
  rivalName: described(v.nullable(v.string()), "Name of the rival at the time. Null if unknown."),
  rivalManual: described(
    v.nullable(v.boolean()),
    "True if the rival was added by hand. Null if the alert concerns no rival.",
  ),
  rivalBefore: described(
    v.nullable(Rank),
    "rival_passed and rival_beaten: the earlier rank of the rival. Null if absent from the results read.",
  ),
  rivalAfter: described(
    v.nullable(Rank),
    "rival_passed and rival_beaten: the rank of the rival that day. Null if absent from the results read.",
  ),
  change: described(v.nullable(v.picklist(RIVAL_CHANGES)), "rival_event: what changed. Null for other types."),
  currency: described(
    v.nullable(v.string()),
    "ISO 4217 code of a changed price. Null for other changes and if unknown.",
  ),
  device: described(
    v.nullable(v.picklist(DEVICES)),
    "chart_drop and chart_enter: device of the chart. Null for other types.",
  ),
  chart: described(v.nullable(v.picklist(CHARTS)), "chart_drop and chart_enter: the chart. Null for other types."),
  genre: described(
    v.nullable(v.string()),
    "chart_drop, chart_enter and off_topic: the store's id of the app's category. Null for other types.",
  ),
  before: described(
    Value,
    "The earlier value. Keywords, rivals and charts: rank of the app, null if absent from the results read. " +
      "rival_event: version, name, price, average rating, icon URL or number of screenshots. review_wave: mean of " +
      "the days before. ai_mention_lost: number of answers that named the app. Null for other types.",
  ),
  after: described(
    Value,
    "The later value, like `before`. review_wave: the day's one-star reviews. A featured app: title of the story " +
      "or collection, null if unknown.",
  ),
  against: described(
    v.nullable(Day),
    "The measured UTC day of the comparison: the latest earlier day of the same source. Null if days are not " +
      "compared or there is none.",
  ),
  depth: described(
    v.nullable(Rank),
    "Number of results read that day. Null if the alert concerns no rank. An absent app may rank anywhere below.",
  ),
  source: described(v.nullable(Source), "Source of the reading. Null if several readings are combined."),
  ads: described(
    v.nullable(AdsChanges),
    "asa_rule: changes by another program in a campaign. Null for other types. Writes by this service are not " +
      "included.",
  ),
  week: described(v.nullable(Week), "weekly: figures of the app's week. Null for other types."),
})
export type AlertFields = v.InferOutput<typeof AlertFields>

/** The fields as stored in facts. `source` is any text, because it was validated when the reading was recorded. */
export type AlertFacts = Omit<AlertFields, "source"> & { source: string | null }

export const NO_FIELDS = Object.fromEntries(Object.keys(AlertFields.entries).map((name) => [name, null])) as {
  [Name in keyof AlertFields]: null
}
