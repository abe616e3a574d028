import * as v from "valibot"
import { sourceRuns } from "../../formulas/source-runs.ts"
import { rankSeries } from "../../history/series.ts"
import { ofApp, operation } from "../../operation.ts"
import { addDays, dayOf } from "../../vocabulary/days.ts"
import { AppCountry } from "../../vocabulary/fields.ts"
import { described } from "../../vocabulary/schema.ts"
import { Day, Rank, RankRuns, Store, Storefront } from "../shapes.ts"

const Point = described(
  v.strictTuple([Day, v.nullable(Rank)]),
  "[day, rank]; rank null = measured, and the app was not among the results read. Days without a point were not measured.",
)

export const getRankHistory = operation({
  id: "get_rank_history",
  method: "GET",
  path: "/apps/:appId/history",
  group: "Your apps",
  toolset: "keywords",
  summary: "The rank of every tracked keyword over time.",
  description:
    "As far back as the plan's history goes; of the iOS side where the app has one, else of the Android side.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    from: described(Day, "The first UTC day of the window."),
    to: described(Day, "The last UTC day of the window: today."),
    keywords: described(
      v.array(
        v.strictObject({
          term: described(v.string(), "The keyword."),
          sources: RankRuns,
          series: described(v.array(Point), "Measured days only, oldest first."),
        }),
      ),
      "Every tracked keyword of the storefront, in its order.",
    ),
  }),
}).run(async ({ app, storefront }, { sql, now, caller }) => {
  const platform = app.iosApp === null ? ("android" as const) : ("ios" as const)
  const to = dayOf(now())
  const from = addDays(to, 1 - caller.entitlements.historyDays)
  const keywords = await rankSeries(sql, app, { platform, storefront, from, to })
  return {
    country: storefront,
    platform,
    from,
    to,
    keywords: keywords.map(({ term, points }) => ({
      term,
      sources: sourceRuns(points),
      series: points.map(({ day, rank }): [string, number | null] => [day, rank]),
    })),
  }
})
