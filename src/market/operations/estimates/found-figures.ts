import * as v from "valibot"
import { described, named } from "../../../lib/schema.ts"
import { isKnown } from "../../read/estimates.ts"
import { BASES, Estimate, isEstimated } from "../estimates.ts"
import { readFigures, type ShownEstimate, shownFigure } from "./figures.ts"
import type { OwnLevel } from "./own-level.ts"
import type { OwnContext } from "./own-sales.ts"

/** The estimates of an app found by the finder. */
export const FoundFigures = named(
  "AppEstimates",
  v.strictObject({
    downloads: described(v.nullable(Estimate), "Per month. Null if unknown."),
    revenue: described(v.nullable(Estimate), "US dollars per month. Null if unknown."),
    growth: described(v.nullable(v.number()), "Change of downloads in 30 days, in percent. Null if unknown."),
    growthLow: v.optional(described(v.nullable(v.number()), "Null if growth is null.")),
    growthHigh: v.optional(described(v.nullable(v.number()), "Null if growth is null.")),
    basis: v.optional(described(v.nullable(v.picklist(BASES)), "Basis of the downloads; see hive_estimate_app.")),
  }),
)
type FoundFigures = v.InferOutput<typeof FoundFigures>

/**
 * Returns the estimates of these apps (store_app ids) in the order of the ids, as the workspace sees them. Null for an
 * unknown estimate.
 */
export async function readFoundFigures(
  ctx: OwnContext,
  apps: readonly number[],
  level: OwnLevel | null,
): Promise<(FoundFigures | null)[]> {
  const figures = await readFigures(ctx, apps, level)
  return apps.map((app) => foundFigures(figures.get(app)))
}

function foundFigures(shown: ShownEstimate | undefined): FoundFigures | null {
  if (!shown || !isKnown(shown)) return null
  const { downloads, revenue, growth, basis } = shown
  return {
    downloads: shownFigure(downloads),
    revenue: shownFigure(revenue),
    growth: growth?.percent ?? null,
    growthLow: growth?.low ?? null,
    growthHigh: growth?.high ?? null,
    basis,
  }
}

/** Returns whether a row has a figure and is therefore charged. */
export function hasFigure(figures: FoundFigures | null | undefined): boolean {
  return figures != null && (isEstimated(figures.downloads) || isEstimated(figures.revenue) || figures.growth !== null)
}
