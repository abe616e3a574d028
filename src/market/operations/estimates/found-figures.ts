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
    downloads: described(v.nullable(Estimate), "A month; null = not known."),
    revenue: described(v.nullable(Estimate), "US dollars a month; null = not known."),
    growth: described(v.nullable(v.number()), "Percent that the downloads rose or fell in 30 days; null = not known."),
    growthLow: v.optional(described(v.nullable(v.number()), "Null with growth.")),
    growthHigh: v.optional(described(v.nullable(v.number()), "Null with growth.")),
    basis: v.optional(described(v.nullable(v.picklist(BASES)), "What the downloads rest on; see hive_estimate_app.")),
  }),
)
type FoundFigures = v.InferOutput<typeof FoundFigures>

/** Returns the estimates of these apps (store_app ids) in their order, as the workspace sees them. Null if unknown. */
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

/** Tells whether a row has a figure and is therefore charged. */
export function hasFigure(figures: FoundFigures | null | undefined): boolean {
  return figures != null && (isEstimated(figures.downloads) || isEstimated(figures.revenue) || figures.growth !== null)
}
