import * as v from "valibot"
import type { ObservationOf } from "../../core/kind.ts"
import { checkIds, hold, isGenre } from "../../core/observation/invariants.ts"
import { Flag, list, SoldApp, Text, Whole } from "../../core/observation/line-parts.ts"
import { rule, ruleBy } from "../../core/observation/shape.ts"
import { CHARTS, type Chart, type ChartSource, DEVICES, type Device } from "../../lib/charts.ts"
import { checkApp } from "../../measuring/record/check-app.ts"

const ONE_CHART = `must be one of ${CHARTS.join(", ")}`
const NO_GENRE = "a genre must be a number of the store"

/** An app as a chart shows it. Facts that were not shown are left out. */
const App = v.pipe(
  v.strictObject(SoldApp),
  ruleBy((app, { seenAt }) => {
    checkApp(app, seenAt)
    hold(app.genre === undefined || isGenre(app.genre), "bad_text", NO_GENRE)
  }),
)
export type ChartApp = v.InferOutput<typeof App>

export const shape = v.pipe(
  v.strictObject({
    device: v.pipe(
      v.picklist(DEVICES, `must be ${DEVICES.join(" or ")}`),
      rule(
        "bad_platform",
        "charts are the App Store's: the platform must be ios",
        (_, { platform }) => platform === "ios",
      ),
      rule("bad_kind", `the device must be ${DEVICES.join(" or ")}`, (device) => DEVICES.includes(device)),
    ),
    chart: v.pipe(
      v.picklist(CHARTS, ONE_CHART),
      rule("bad_kind", `the chart ${ONE_CHART}`, (chart) => CHARTS.includes(chart)),
    ),
    /** The store's id; ALL_APPS for the overall chart. */
    genre: v.pipe(Text, rule("bad_text", NO_GENRE, isGenre)),
    /** Apps in the order shown; rank = index + 1. At most `depth`. */
    apps: v.pipe(
      list(App),
      ruleBy((apps, { platform }) => {
        checkIds(
          platform,
          apps.map(({ id }) => id),
          "apps",
        )
      }),
    ),
    /** How many places were read, from 0. An app that is not in `apps` may be on any place below. */
    depth: v.pipe(
      Whole,
      rule("bad_depth", "the depth must be a whole number from 0 to 1000", (depth) => {
        return Number.isInteger(depth) && depth >= 0 && depth <= 1_000
      }),
    ),
    /** False if the reading ended before its depth. */
    complete: v.pipe(
      v.optional(Flag, true),
      rule("bad_depth", "complete must be true or false", (complete) => typeof complete === "boolean"),
    ),
  }),
  rule("too_many_results", "there are more apps than the depth", ({ apps, depth }) => apps.length <= depth),
)

export type ChartObservation = ObservationOf<"chart", ChartSource, typeof shape>

export interface ChartQuestion {
  storefront: string
  device: Device
  chart: Chart
  /** The store's id; ALL_APPS for the overall chart. */
  genre: string
}
