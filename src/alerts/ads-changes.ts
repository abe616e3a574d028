import * as v from "valibot"
import { described, named } from "../lib/schema.ts"
import { Count, Time } from "../lib/shapes.ts"

/** Number of changes that an alert lists; the rest are only counted. */
export const SHOWN_CHANGES = 5

/** Changes by another program in one campaign, as listed by Apple's change history. */
export const AdsChanges = v.strictObject({
  account: described(v.string(), "The ads account, as `appmeter account list` names it."),
  campaign: described(v.string(), "The campaign's id."),
  campaignName: described(v.nullable(v.string()), "Null = not known."),
  count: described(Count, "Changes in all; list_ads_commands has each."),
  from: described(Time, "When the first of them was made."),
  shown: described(
    v.array(
      named(
        "AdsRuleChange",
        v.strictObject({
          event: described(v.nullable(v.string()), "CREATE, UPDATE or DELETE."),
          entity: described(v.string(), "What was changed, in Apple's words."),
          name: described(v.nullable(v.string()), "Its name or text; null = not said."),
          field: described(v.nullable(v.string()), "In Apple's words; null = none is named."),
          from: described(v.nullable(v.string()), "Null = nothing stood there, or it is not said."),
          to: described(v.nullable(v.string()), "Null = nothing stands there, or it is not said."),
        }),
      ),
    ),
    `The newest, at most ${SHOWN_CHANGES}.`,
  ),
})
export type AdsChanges = v.InferOutput<typeof AdsChanges>
