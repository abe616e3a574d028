import * as v from "valibot"
import { lookedAt, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { readVisibility } from "../../keywords/read/visibility.ts"
import { dayOf } from "../../lib/days.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Store, Storefront } from "../../lib/shapes.ts"

export const getVisibility = operation({
  id: "get_visibility",
  method: "GET",
  path: "/page/:appId/visibility",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns the share of the possible top-ten weight that an app has over time.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 0,
  faults: [],
  names: "country",
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    from: RangeDay("First UTC day."),
    to: RangeDay("Last UTC day."),
  }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    from: Day,
    to: Day,
    tracked: Count,
    weighed: described(Count, "Keywords with a popularity, which the score covers."),
    days: described(
      v.array(v.strictTuple([Day, v.number(), Count])),
      "[day, score from 0 to 100, keywords measured that day]. Days without a score are missing.",
    ),
  }),
}).run(async ({ app, storefront, platform, from, to }, { sql, now, caller }) => {
  const range = lookedAt("history", { from, to }, now(), caller)
  const query = { platform, storefront, ...range, today: dayOf(now()) }
  const { tracked, weighed, days } = await readVisibility(sql, app, query)
  return {
    country: storefront,
    platform,
    ...range,
    tracked,
    weighed,
    days: days.map(({ day, score, keywords }): [string, number, number] => [day, score, keywords]),
  }
})
