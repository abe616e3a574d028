import { FAILS, FITS, type FigureRange, fitOf } from "../../../formulas/estimates/figure-filter.ts"
import { timesOf } from "../../../formulas/estimates/own-level.ts"
import { BY_PRICE, BY_PRIOR, type FigureTable, readFigureTable } from "../../../history/market/figure-table.ts"
import { type OwnLevel, readOwnLevel } from "./own-level.ts"
import type { OwnContext } from "./own-sales.ts"

export interface FigureRanges {
  revenue: FigureRange
  downloads: FigureRange
  growth: FigureRange
}

/** Apps (store_app ids) of which figures fit; and those of which it is not known, while none is known to fail. */
export interface FigureFits {
  fit: number[]
  unsure: number[]
  /** Names how figures stood. */
  state: string
  level: OwnLevel | null
}

/** By the figures as this caller is shown them. An app that is given twice is found twice. */
export async function findFigureFits(
  ctx: OwnContext,
  ranges: FigureRanges,
  apps: readonly ArrayLike<number>[],
): Promise<FigureFits> {
  const [{ table, version }, level] = await Promise.all([readFigureTable(ctx.sql), readOwnLevel(ctx)])
  const own = level === null ? [] : [...level.known.values()].map(({ downloads, ratings }) => downloads / ratings)
  const found: FigureFits = { fit: [], unsure: [], state: [version, ...own].join(" "), level }
  const asked = [
    filterOf(table.downloads, ranges.downloads, BY_PRIOR),
    filterOf(table.revenue, ranges.revenue, BY_PRIOR | BY_PRICE),
    filterOf(table.growth, ranges.growth, null),
  ].filter(({ isAsked }) => isAsked)
  const times = timesBy(level)
  for (const some of apps) {
    for (let at = 0; at < some.length; at++) {
      const app = some[at]!
      const fit = fitOfApp(asked, app, table, times)
      if (fit !== FAILS) (fit === FITS ? found.fit : found.unsure).push(app)
    }
  }
  return found
}

interface Filter {
  of: Float64Array
  least: number
  most: number
  isAsked: boolean
  /** Figures with these flags are moved by own sales; null = percents, which nothing moves and which may be less than zero. */
  moved: number | null
}

function filterOf(of: Float64Array, { min, max }: FigureRange, moved: number | null): Filter {
  const isAsked = min !== undefined || max !== undefined
  return { of, least: min ?? Number.NEGATIVE_INFINITY, most: max ?? Number.POSITIVE_INFINITY, isAsked, moved }
}

function fitOfApp(asked: readonly Filter[], app: number, table: FigureTable, times: Times | null): number {
  let fit: number = FITS
  for (const { of, least, most, moved } of asked) {
    const amount = app < of.length ? of[app]! : Number.NaN
    if (moved === null) fit = Math.min(fit, fitOf(amount, Number.NaN, least, most))
    else if (amount < 0) fit = Math.min(fit, fitOf(Number.NaN, Math.round(-amount), least, most))
    else {
      const isMoved = times !== null && (table.flags[app]! & moved) === moved
      // compared as it is shown: whole
      const shown = Math.round(isMoved ? amount * times(app, table.genres[app]!) : amount)
      fit = Math.min(fit, fitOf(shown, Number.NaN, least, most))
    }
    if (fit === FAILS) return fit
  }
  return fit
}

type Times = (app: number, genre: number) => number

function timesBy(level: OwnLevel | null): Times | null {
  if (level === null) return null
  const held = new Map<number, number>()
  return (app, genre) => {
    const isOwn = level.known.has(app)
    const kept = isOwn ? undefined : held.get(genre)
    if (kept !== undefined) return kept
    const times = timesOf(level.ratioOf(app, genre === 0 ? null : String(genre)))
    if (!isOwn) held.set(genre, times)
    return times
  }
}
