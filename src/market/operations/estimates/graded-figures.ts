import * as v from "valibot"
import { described, named } from "../../../lib/schema.ts"
import { Count, Storefront } from "../../../tracking/shapes.ts"
import { Estimate } from "../estimates.ts"
import { findReportedApps, type OwnContext, readSoldMonths, type SoldMonth } from "./own-sales.ts"

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const Month = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/))

export const GradedMonth = named(
  "GradedMonth",
  v.strictObject({
    month: Month,
    n: described(Count, "Apps with a figure by ratings whose downloads the store counts."),
    medianError: described(v.number(), "Percent: half of the figures err by more."),
    order: described(v.number(), "Rank correlation of figures and counts."),
    withinTwo: described(Share, "The share that is met within a factor of two."),
    coverage: described(Share, "The share of the counts within the interval that was stated; 0.8 is meant."),
    under: v.strictObject({
      n: described(Count, "Apps of which only an amount was said that they are under."),
      held: described(Count, "Of them those that were."),
    }),
  }),
  "What figures by ratings were worth last month on the Google Play apps that this instance reads and the store counts.",
)

export const OwnMonth = named(
  "OwnMonth",
  v.strictObject({
    month: described(Month, "The figure is of the 30 days that end with it."),
    storefronts: described(v.array(Storefront), "Whose ratings it rested on; the downloads are of these."),
    estimate: Estimate,
    reportedDays: described(Count, "Of the 30 days those that your console has reported."),
    downloads: described(v.nullable(Count), "First downloads, as reported; null = not all of the days are."),
    held: described(v.nullable(v.boolean()), "They lie within the interval; null = not known."),
  }),
)

/** One year. */
const MONTHS = 12

/**
 * Returns the estimates of ended months for one of the workspace's apps, together with the downloads that its console
 * reported for the same days and storefronts. Null if no connected console reports on the app, or the key may not read
 * its reports.
 */
export async function readOwnMonths(ctx: OwnContext, iosId: string): Promise<v.InferOutput<typeof OwnMonth>[] | null> {
  const months = (await readSoldMonths(ctx.sql, await findReportedApps(ctx, iosId), MONTHS)).get(iosId)
  return months?.map(ownMonth) ?? null
}

function ownMonth({
  figure: { month, storefronts, value, low, high, under },
  reportedDays,
  downloads,
}: SoldMonth): v.InferOutput<typeof OwnMonth> {
  const [least, most] = value === null ? [null, null] : [Math.round(low), Math.round(high)]
  const isHeld =
    under === null
      ? downloads !== null && downloads >= low && downloads <= high
      : downloads !== null && downloads < under
  return {
    month: month.slice(0, 7),
    storefronts,
    estimate: { value: value && Math.round(value), low: least, high: most, under },
    ...{ reportedDays, downloads, held: downloads === null ? null : isHeld },
  }
}
