import * as v from "valibot"
import { described, named } from "../lib/schema.ts"
import { Count, Day, Rank, Store, Storefront } from "../lib/shapes.ts"

const Move = named(
  "WeekMove",
  v.strictObject({
    platform: Store,
    country: Storefront,
    term: described(v.string(), "The keyword."),
    was: described(
      v.nullable(Rank),
      "Rank on the last measured day of the week before. Null if absent from the results read.",
    ),
    rank: described(v.nullable(Rank), "Rank on the last measured day of the week. Null if absent."),
    against: described(Day, "The last measured day of the week before."),
    day: described(Day, "The last measured day of the week."),
  }),
)

export type WeekMove = v.InferOutput<typeof Move>

export const MAX_CHANGES = 50

/** An app's week over all its storefronts and stores. Unmeasured figures are null or left out of their list. */
export const Week = v.strictObject({
  from: described(Day, "First day of the week, a Monday (UTC)."),
  to: described(Day, "Last day of the week, a Sunday (UTC)."),
  keywords: described(
    v.strictObject({
      tracked: described(Count, "Keywords tracked at the end of the week."),
      measured: described(Count, "Tracked keywords with results read that week."),
      up: described(Count, "Keywords that rose."),
      down: described(Count, "Keywords that fell."),
      entered: described(Count, "Keywords absent before and ranked now."),
      dropped: described(Count, "Keywords ranked before and absent now."),
      same: described(Count, "Keywords with the same rank, or absent both times."),
    }),
    "Keywords, counted once per storefront and store. Movement counts include only keywords that can be compared " +
      "with the week before.",
  ),
  best: described(v.array(Move), "The biggest rises and entries, at most 5."),
  worst: described(v.array(Move), "The biggest falls and drops, at most 5."),
  ratings: described(
    v.array(
      v.strictObject({
        platform: Store,
        country: Storefront,
        ratings: described(v.nullable(Count), "Number of ratings. Null if unknown."),
        rating: described(v.nullable(v.number()), "Average rating. Null if unknown."),
        gained: described(
          v.nullable(v.number()),
          "Ratings gained since the Sunday before, from the same source. Null if unknown.",
        ),
      }),
    ),
    "Ratings on the last day of the week, if they were read.",
  ),
  reviews: described(
    v.array(
      v.strictObject({
        platform: Store,
        feed: described(v.string(), "The storefront (us) on iOS, the language (en) on Android."),
        count: described(Count, "Reviews written that week."),
        low: described(Count, "Reviews with 1 or 2 stars."),
      }),
    ),
    "Reviews written that week and how many have 1 or 2 stars, where the feed was read without gaps. A feed is a " +
      "storefront on iOS and a language on Android.",
  ),
  changes: described(Count, `Changes of the app's store pages. ${MAX_CHANGES} means ${MAX_CHANGES} or more.`),
  alerts: described(v.record(v.string(), Count), "Alerts of the week by type. rival_event counts changes by rivals."),
})

export type Week = v.InferOutput<typeof Week>
