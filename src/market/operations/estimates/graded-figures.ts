import * as v from "valibot"
import type { Platform } from "../../../core/observation/provenance.ts"
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
    n: described(Count, "Apps with a figure from ratings and a count by the store."),
    medianError: described(v.number(), "Median error in percent."),
    order: described(v.number(), "Rank correlation of figures and counts."),
    withinTwo: described(Share, "Share of figures within a factor of two of the count."),
    coverage: described(Share, "Share of the counts within the stated interval; the target is 0.8."),
    under: v.strictObject({
      n: described(Count, "Apps with only an upper bound."),
      held: described(Count, "Apps with only an upper bound whose count was below it."),
    }),
  }),
  "Last month's accuracy of figures from ratings, on Google Play apps read by this instance.",
)

export const OwnMonth = named(
  "OwnMonth",
  v.strictObject({
    month: described(Month, "Month whose last 30 days the figure covers."),
    storefronts: described(
      v.array(Storefront),
      "Storefronts of the ratings used; the reported downloads are of the same storefronts, on Google Play of all.",
    ),
    estimate: described(Estimate, "Made from ratings alone, also on Google Play."),
    reportedDays: described(Count, "How many of the 30 days your console has reported."),
    downloads: described(
      v.nullable(Count),
      "First downloads, as reported; on Google Play users who installed the app. Null if a day is not reported.",
    ),
    held: described(v.nullable(v.boolean()), "True if they lie within the interval. Null if unknown."),
  }),
)

/** One year. */
const MONTHS = 12

/**
 * Returns the estimates of ended months for one of the workspace's apps, together with the downloads that its console
 * reported for the same days and storefronts. Null if no connected console reports on the app, or the key may not read
 * its reports.
 */
export async function readOwnMonths(
  ctx: OwnContext,
  { platform, id }: { platform: Platform; id: string },
): Promise<v.InferOutput<typeof OwnMonth>[] | null> {
  const months = (await readSoldMonths(ctx.sql, await findReportedApps(ctx, platform, id), MONTHS)).get(id)
  return months?.map(ownMonth) ?? null
}

function ownMonth({
  figure: { month, storefronts, value, low, high, under },
  reportedDays,
  downloads,
}: SoldMonth): v.InferOutput<typeof OwnMonth> {
  const [least, most] = value === null ? [null, null] : [Math.round(low), Math.round(high)]
  const isStored =
    under === null
      ? downloads !== null && downloads >= low && downloads <= high
      : downloads !== null && downloads < under
  return {
    month: month.slice(0, 7),
    storefronts,
    estimate: { value: value && Math.round(value), low: least, high: most, under },
    reportedDays,
    downloads,
    held: downloads === null ? null : isStored,
  }
}
