import { LEVEL } from "../../formulas/downloads.ts"
import { restateDownloads, restatePlace, restateRevenue, type StatedFigure, timesOf } from "../../formulas/own-level.ts"
import type { PlaceFigure } from "../../formulas/place-curve.ts"
import { readEstimates, type StoredEstimate } from "../../read/estimates.ts"
import type { Estimate } from "../estimates.ts"
import { type OwnLevel, readOwnLevel } from "./own-level.ts"
import type { OwnContext } from "./own-sales.ts"

/** An estimate as the workspace sees it. */
export interface ShownEstimate extends StoredEstimate {
  /** The data that the revenue is based on. Null without revenue. */
  revenueBasis: StoredEstimate["basis"]
}

/**
 * Returns the estimates of apps (store_app ids), by id, as the workspace sees them. Every displayed estimate comes from
 * this function. App Store estimates are the stored ones, adjusted by the workspace's own sales if it has any.
 */
export async function readFigures(
  ctx: OwnContext,
  apps: readonly number[],
  read: OwnLevel | null | Promise<OwnLevel | null> = readOwnLevel(ctx),
): Promise<Map<number, ShownEstimate>> {
  const [stored, level] = await Promise.all([readEstimates(ctx.sql, apps), read])
  return new Map([...stored].map(([app, one]) => [app, shownTo(level, app, one)]))
}

function shownTo(level: OwnLevel | null, app: number, stored: StoredEstimate): ShownEstimate {
  const stated = level === null || level.knownApps.size === 0 ? stored : restated(app, stored, level)
  const { revenue, revenueBy, basis } = stated
  if (revenue === null || revenueBy !== "place") return { ...stated, revenueBasis: revenue && basis }
  const times = level?.timesOfPlaces ?? null
  if (times === null) return { ...stated, revenueBasis: "prior" }
  return { ...stated, revenue: { ...revenue, ...restatePlace(revenue, times) }, revenueBasis: "own" }
}

/**
 * Adjusts a stored estimate by the workspace's sales. Growth compares an app with itself, so the adjustment does not
 * change it.
 */
function restated(app: number, stored: StoredEstimate, level: OwnLevel): StoredEstimate {
  // counts that Google Play publishes are exact and need no adjustment
  if (stored.basis !== "prior") return stored
  const ratio = level.ratioOf(app, stored.genre)
  const stated = { ...stored, basis: ratio.basis, ...(ratio.basis === "own" && { pairs: 0, coverage: null }) }
  const { downloads, revenue } = stored
  if (!isStated(downloads)) return stated
  const adjusted = restateDownloads(downloads, ratio, { level: LEVEL, isCompared: stored.days !== null })
  const isByDownloads = isStated(revenue) && stored.revenueBy === "price"
  return {
    ...stated,
    downloads: { ...adjusted, under: null },
    revenue: isByDownloads ? { ...revenue, ...restateRevenue(revenue, adjusted, timesOf(ratio)) } : revenue,
  }
}

function isStated<F extends PlaceFigure>(figure: F | null): figure is F & StatedFigure {
  return figure !== null && figure.value !== null
}

/** Rounds to whole dollars and downloads. */
export function shownFigure(figure: PlaceFigure | null): Estimate | null {
  if (figure === null) return null
  const whole = (amount: number | null) => amount && Math.round(amount)
  const { value, low, high, under } = figure
  return { value: whole(value), low: whole(low), high: whole(high), under: whole(under) }
}
