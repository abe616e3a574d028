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
      "On the last measured day of the week before; null = absent from the results read.",
    ),
    rank: described(v.nullable(Rank), "On the week's last measured day; null = absent."),
    against: described(Day, "That day of the week before."),
    day: described(Day, "That day of the week."),
  }),
)

export type WeekMove = v.InferOutput<typeof Move>

export const MAX_CHANGES = 50

/** An app's week over all its storefronts and stores. Unmeasured figures are null or left out of their list. */
export const Week = v.strictObject({
  from: described(Day, "Monday, UTC."),
  to: described(Day, "Sunday, UTC."),
  keywords: described(
    v.strictObject({
      tracked: described(Count, "Tracked at the end of the week."),
      measured: described(Count, "Of them, those whose results were read that week."),
      up: described(Count, "Rose."),
      down: described(Count, "Fell."),
      entered: described(Count, "Absent before, ranked now."),
      dropped: described(Count, "Ranked before, absent now."),
      same: described(Count, "At the same rank, or absent both times."),
    }),
    "Keywords, counted once for each storefront and store: tracked; measured that week; and how those moved that can be compared with the week before.",
  ),
  best: described(v.array(Move), "The biggest rises and entries, at most 5."),
  worst: described(v.array(Move), "The biggest falls and those that dropped out, at most 5."),
  ratings: described(
    v.array(
      v.strictObject({
        platform: Store,
        country: Storefront,
        ratings: described(v.nullable(Count), "In all; null = not said."),
        rating: described(v.nullable(v.number()), "Average of stars; null = not said."),
        gained: described(v.nullable(v.number()), "Against the Sunday before, by the same source; null = not known."),
      }),
    ),
    "Ratings on the week's Sunday, where they were read.",
  ),
  reviews: described(
    v.array(
      v.strictObject({
        platform: Store,
        feed: described(v.string(), "A storefront (us) on iOS, a language (en) on Android."),
        count: described(Count, "Written that week."),
        low: described(Count, "Of them, those of 1 and 2 stars."),
      }),
    ),
    "Reviews written that week, and those of 1 and 2 stars, where they were read without a gap. The feed is a storefront on iOS, a language on Android.",
  ),
  changes: described(Count, `Changes of the app's own store pages; ${MAX_CHANGES} = that many or more.`),
  alerts: described(v.record(v.string(), Count), "Alerts of the week by type; rival_event is what rivals changed."),
})

export type Week = v.InferOutput<typeof Week>
