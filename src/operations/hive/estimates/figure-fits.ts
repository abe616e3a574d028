import { type AppBits, bitsOf } from "../../../formulas/best-places.ts"
import { FAILS, FITS, type FigureRange, fitOf } from "../../../formulas/estimates/figure-filter.ts"
import { timesOf } from "../../../formulas/estimates/own-level.ts"
import {
  BY_PLACE,
  BY_PRICE,
  BY_PRIOR,
  type FigureTable,
  readFigureTable,
} from "../../../history/market/figure-table.ts"
import type { Context } from "../../../operation.ts"
import { type OwnLevel, readOwnLevel } from "./own-level.ts"
import type { OwnContext } from "./own-sales.ts"

export interface FigureRanges {
  revenue: FigureRange
  downloads: FigureRange
  growth: FigureRange
}

/** Apps of which figures fit; and those of which it is not known, while none is known to fail. */
interface FigureFits {
  fit: AppBits
  unsure: AppBits
  /** Names how figures stood. */
  state: string
  level: OwnLevel | null
}

/** By the figures as this caller is shown them; of apps by their store_app ids. */
export async function findFigureFits(
  ctx: OwnContext & Pick<Context, "aside">,
  ranges: FigureRanges,
  apps: readonly ArrayLike<number>[],
): Promise<FigureFits> {
  const [{ table, version }, level] = await Promise.all([readFigureTable(ctx.sql, ctx.aside), readOwnLevel(ctx)])
  const own = level === null ? [] : [...level.known.values()].map(({ downloads, ratings }) => downloads / ratings)
  const asked = [
    filterOf(table.downloads, ranges.downloads, { moved: BY_PRIOR }),
    filterOf(table.revenue, ranges.revenue, { moved: BY_PRIOR | BY_PRICE, placed: BY_PLACE }),
    filterOf(table.growth, ranges.growth, { moved: null }),
  ].filter(({ isAsked }) => isAsked)
  const times = { ofApp: timesBy(level), ofPlaces: level?.timesOfPlaces ?? 1 }
  const fit = bitsOf(...apps)
  const unsure = new Uint8Array(fit.length)
  for (const filter of asked) narrow({ fit, unsure }, filter, { table, times })
  return { fit, unsure, state: [version, ...own, level?.timesOfPlaces ?? ""].join(" "), level }
}

interface Filter {
  of: Float64Array
  least: number
  most: number
  /** Where amounts begin that are shown, whole, as `least` or more; and those that are shown as more than `most`. */
  from: number
  until: number
  isAsked: boolean
  /** Figures with these flags are moved by own sales; null = percents, which nothing moves and which may be less than zero. */
  moved: number | null
  /** Those with this flag by own money at a place, and so is what they are under; left out = none is. */
  placed?: number
}

function filterOf(of: Float64Array, { min, max }: FigureRange, flags: Pick<Filter, "moved" | "placed">): Filter {
  const isAsked = min !== undefined || max !== undefined
  const [least, most] = [min ?? Number.NEGATIVE_INFINITY, max ?? Number.POSITIVE_INFINITY]
  return { of, least, most, from: Math.ceil(least) - 0.5, until: Math.floor(most) + 0.5, isAsked, ...flags }
}

interface FigureGround {
  table: FigureTable
  times: Times
}

/**
 * Leaves those that do not fail by this filter. In the order of their ids, as figures stand: in that of 80,000 places it took
 * several times as long.
 */
function narrow({ fit, unsure }: Pick<FigureFits, "fit" | "unsure">, filter: Filter, ground: FigureGround): void {
  for (let at = 0; at < fit.length; at++) {
    const left = fit[at]! | unsure[at]!
    if (left === 0) continue
    let fits = 0
    let known = 0
    for (let place = 0; place < 8; place++) {
      const bit = 1 << place
      if ((left & bit) === 0) continue
      const one = fitOfApp(at * 8 + place, filter, ground)
      if (one !== FAILS) fits |= bit
      if (one === FITS) known |= bit
    }
    unsure[at] = (unsure[at]! | ~known) & fits
    fit[at] = fit[at]! & known
  }
}

function fitOfApp(app: number, filter: Filter, { table, times }: FigureGround): number {
  const { of, least, most, from, until, moved, placed = 0 } = filter
  const held = app < of.length ? of[app]! : Number.NaN
  const flags = app < of.length ? table.flags[app]! : 0
  const amount = (flags & placed) === 0 ? held : held * times.ofPlaces
  if (moved === null) return fitOf(amount, Number.NaN, least, most)
  if (!(amount >= 0)) return fitOf(Number.NaN, Math.round(-amount), least, most)
  const isMoved = times.ofApp !== null && (flags & moved) === moved
  // rounding each of 60,000 takes as long as all the rest
  const exact = isMoved ? amount * times.ofApp!(app, table.genres[app]!) : amount
  return exact >= from && exact < until ? FITS : FAILS
}

interface Times {
  /** By how much downloads per rating change; null = by nothing. */
  ofApp: ((app: number, genre: number) => number) | null
  ofPlaces: number
}

function timesBy(level: OwnLevel | null): Times["ofApp"] {
  if (level === null || level.known.size === 0) return null
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
