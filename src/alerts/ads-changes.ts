import * as v from "valibot"
import { described, named } from "../lib/schema.ts"
import { Count, Time } from "../lib/shapes.ts"

/** Number of changes that an alert lists; the rest are only counted. */
export const SHOWN_CHANGES = 5

/** Changes by another program in one campaign, as listed by Apple's change history. */
export const AdsChanges = v.strictObject({
  account: described(v.string(), "The ads account, as in `appmeter account list`."),
  campaign: described(v.string(), "Id of the campaign."),
  campaignName: described(v.nullable(v.string()), "Null if unknown."),
  count: described(Count, "Number of changes. list_ads_commands lists each."),
  from: described(Time, "Time of the first change."),
  shown: described(
    v.array(
      named(
        "AdsRuleChange",
        v.strictObject({
          event: described(v.nullable(v.string()), "CREATE, UPDATE or DELETE."),
          entity: described(v.string(), "Type of the changed object, in Apple's terms."),
          name: described(v.nullable(v.string()), "Name or text of the object. Null if unknown."),
          field: described(v.nullable(v.string()), "Name of the field, in Apple's terms. Null if unknown."),
          from: described(v.nullable(v.string()), "Earlier value. Null if empty or unknown."),
          to: described(v.nullable(v.string()), "New value. Null if empty or unknown."),
        }),
      ),
    ),
    `The newest changes, at most ${SHOWN_CHANGES}.`,
  ),
})
export type AdsChanges = v.InferOutput<typeof AdsChanges>
