import { LEVEL } from "../../../formulas/estimates/downloads.ts"
import { restateDownloads, restateRevenue, type StatedFigure, timesOf } from "../../../formulas/estimates/own-level.ts"
import { type DownloadsPerRating, downloadsPerRating, type KnownApp } from "../../../formulas/estimates/ratio.ts"
import { type Figure, readEstimates, type StoredEstimate } from "../../../history/market/estimates.ts"
import type { Estimate } from "../estimates.ts"
import { knownApp, type OwnContext, readSoldMonths } from "./own-sales.ts"

/** What own apps sold for each rating is asked of so many months. */
const MONTHS = 3

/** What a workspace's own sales say of downloads per rating; null = nothing, and figures stand as they are stored. */
export interface OwnLevel {
  /** Of an app by its id in the App Store and its genre. */
  ratioOf(iosId: string, genre: string | null): DownloadsPerRating
  /** Own apps that it rests on. */
  apps: number
}

export async function readOwnLevel(ctx: OwnContext): Promise<OwnLevel | null> {
  const known = new Map<string, KnownApp>()
  for (const [iosId, months] of await readSoldMonths(ctx, { months: MONTHS })) {
    const own = knownApp(months)
    if (own) known.set(iosId, own)
  }
  if (known.size === 0) return null
  const all = [...known.values()]
  return {
    ratioOf: (iosId, genre) => downloadsPerRating("ios", { own: known.get(iosId) ?? null, genre }, all),
    apps: known.size,
  }
}

/**
 * What apps (store_app ids) are thought to bring, by id: the one way to a figure that a workspace is shown. Figures of the
 * App Store stand as they are stored for everybody, or as own sales of this workspace, and of no other, move them.
 */
export async function readFigures(ctx: OwnContext, apps: readonly number[]): Promise<Map<number, StoredEstimate>> {
  const [held, level] = await Promise.all([readEstimates(ctx.sql, apps), readOwnLevel(ctx)])
  return level === null ? held : new Map([...held].map(([app, one]) => [app, restated(one, level)]))
}

/** Growth is of an app against itself: a level changes nothing of it. */
export function restated(held: StoredEstimate, level: OwnLevel): StoredEstimate {
  if (held.basis !== "prior" || held.iosId === null) return held
  const ratio = level.ratioOf(held.iosId, held.genre)
  const stated = { ...held, basis: ratio.basis, ...(ratio.basis === "own" && { pairs: 0, coverage: null }) }
  const { downloads, revenue } = held
  if (!isStated(downloads)) return stated
  const own = restateDownloads(downloads, ratio, { level: LEVEL, isCompared: held.days !== null })
  const isByDownloads = isStated(revenue) && held.revenueBy === "price"
  return {
    ...stated,
    downloads: { ...own, under: null },
    revenue: isByDownloads ? { ...revenue, ...restateRevenue(revenue, own, timesOf(ratio)) } : revenue,
  }
}

function isStated<F extends Figure>(figure: F | null): figure is F & StatedFigure {
  return figure !== null && figure.value !== null
}

/** Money and apps are not divided: figures are whole. */
export function shownFigure(figure: Figure | null): Estimate | null {
  if (figure === null) return null
  const whole = (amount: number | null) => amount && Math.round(amount)
  const { value, low, high, under } = figure
  return { value: whole(value), low: whole(low), high: whole(high), under: whole(under) }
}
