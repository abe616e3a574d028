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
  term: described(v.nullable(v.string()), "The keyword; null where it is about none."),
  rivalId: described(v.nullable(v.string()), "Store id of the rival; null where it is about none."),
  rivalName: described(v.nullable(v.string()), "The rival's name at the time; null until one was seen."),
  rivalManual: described(v.nullable(v.boolean()), "Whether the rival was named by hand; null where it is about none."),
  rivalBefore: described(
    v.nullable(Rank),
    "rival_passed, rival_beaten: the rival's rank before; null = absent from the results read.",
  ),
  rivalAfter: described(
    v.nullable(Rank),
    "rival_passed, rival_beaten: the rival's rank that day; null = absent from the results read.",
  ),
  change: described(v.nullable(v.picklist(RIVAL_CHANGES)), "rival_event: what changed; null elsewhere."),
  currency: described(
    v.nullable(v.string()),
    "ISO 4217, of a changed price; null elsewhere and where the store did not say.",
  ),
  device: described(v.nullable(v.picklist(DEVICES)), "chart_drop, chart_enter: whose chart; null elsewhere."),
  chart: described(v.nullable(v.picklist(CHARTS)), "chart_drop, chart_enter: which chart; null elsewhere."),
  genre: described(
    v.nullable(v.string()),
    "chart_drop, chart_enter, off_topic: the store's own id of the app's category; null elsewhere.",
  ),
  before: described(
    Value,
    "What was. The app's rank of keywords, rivals and charts, null = absent from the places read; of a rival_event the version, name, price, average of stars, address of the icon or number of screenshots; of a review_wave the mean of the days before; of an ai_mention_lost the answers that named the app; null elsewhere.",
  ),
  after: described(
    Value,
    "What is: as before; of a review_wave the day's reviews of one star; of a featured app the title of the story or collection, null until one was seen.",
  ),
  against: described(
    v.nullable(Day),
    "The measured UTC day that it is compared with: the last before, of the same source. Null where days are not compared, or there was none.",
  ),
  depth: described(
    v.nullable(Rank),
    "How many places were read that day; null where it is about no rank. An app that is absent may stand on any below.",
  ),
  source: described(v.nullable(Source), "Where it was read; null where it comes from several readings."),
  ads: described(
    v.nullable(AdsChanges),
    "asa_rule: what another program changed in a campaign; null elsewhere. A write of this service is none of it.",
  ),
  week: described(v.nullable(Week), "weekly: the app's week in figures; null elsewhere."),
})
export type AlertFields = v.InferOutput<typeof AlertFields>

/** The fields as stored in facts. `source` is any text, because it was validated when the reading was recorded. */
export type AlertFacts = Omit<AlertFields, "source"> & { source: string | null }

export const NO_FIELDS = Object.fromEntries(Object.keys(AlertFields.entries).map((name) => [name, null])) as {
  [Name in keyof AlertFields]: null
}
