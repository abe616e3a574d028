import * as v from "valibot"
import { tableFigures } from "../../../history/market/figure-table.ts"
import { described, named } from "../../../vocabulary/schema.ts"
import { BASES, Estimate, isEstimated } from "../estimates.ts"
import type { FindQuery } from "../find-filters.ts"
import type { FigureGround, FigureRanges } from "./figure-fits.ts"
import { readFigures, shownFigure } from "./figures.ts"
import type { OwnContext } from "./own-sales.ts"

/** What an app of the finder is thought to bring. */
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

/**
 * Of each of these apps (store_app ids); null = nothing is known of it. Where own sales move figures they are moved by rows,
 * else they are as the table has them that all are found by.
 */
export async function readFoundFigures(
  ctx: OwnContext,
  apps: readonly number[],
  { figures, level }: FigureGround,
): Promise<(FoundFigures | null)[]> {
  if (level === null) return apps.map((app) => foundFigures(tableFigures(figures.table, app)))
  const moved = await readFigures(ctx, apps, level)
  return apps.map((app) => foundFigures(moved.get(app)))
}

type TableFigures = ReturnType<typeof tableFigures>

function foundFigures(held: TableFigures | undefined): FoundFigures | null {
  if (!held) return null
  const { downloads, revenue, growth, basis } = held
  if (downloads === null && revenue === null && growth === null) return null
  return {
    ...{ downloads: shownFigure(downloads), revenue: shownFigure(revenue), growth: growth?.percent ?? null },
    ...{ growthLow: growth?.low ?? null, growthHigh: growth?.high ?? null, basis },
  }
}

/** Any figure of it is paid for. */
export function hasFigure(figures: FoundFigures | null | undefined): boolean {
  return figures != null && (isEstimated(figures.downloads) || isEstimated(figures.revenue) || figures.growth !== null)
}

/** Null = no filter asks for a figure. */
export function figureRanges(query: FindQuery): FigureRanges | null {
  const ranges = {
    revenue: { min: query.revenueMin, max: query.revenueMax },
    downloads: { min: query.downloadsMin, max: query.downloadsMax },
    growth: { min: query.growthMin, max: query.growthMax },
  }
  return Object.values(ranges).some(({ min, max }) => (min ?? max) !== undefined) ? ranges : null
}
