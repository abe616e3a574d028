import { FAILS, FITS, type FigureRange, fitOf } from "../../../formulas/estimates/figure-filter.ts"
import { timesOf } from "../../../formulas/estimates/own-level.ts"
import { type AppBits, bitsAmong, bitsOf, emptyBits } from "../../../formulas/places/app-bits.ts"
import { BY_PLACE, BY_PRICE, BY_PRIOR, type FigureTable, type KeptTable } from "../../../history/market/figure-table.ts"
import type { OwnLevel } from "./own-level.ts"

export interface FigureRanges {
  revenue: FigureRange
  downloads: FigureRange
  growth: FigureRange
}

/** What a caller's figures rest on: those of all, which go on while others read, and what own sales say; null = nothing. */
export interface FigureGround {
  figures: Readonly<KeptTable>
  level: OwnLevel | null
}

/** Apps of which figures fit; and those of which it is not known, while none is known to fail. */
interface FigureFits {
  fit: AppBits
  unsure: AppBits
}

/** Of the apps of lists by their store_app ids, or of those that are sought; and of any others. */
export function figureFits(
  ground: FigureGround,
  ranges: FigureRanges,
  lists: { highest: number; apps: () => readonly Int32Array[] },
  sought: Int32Array | null,
): FigureFits {
  // own sales move figures of one workspace alone
  if (ground.level !== null) return fitsAmong(bitsOf(...(sought ? [sought] : lists.apps())), ranges, ground)
  const { fit, unsure } = keptFits(ranges, ground, Math.max(lists.highest, ground.figures.table.flags.length))
  return sought ? { fit: bitsAmong(sought, fit), unsure: bitsAmong(sought, unsure) } : { fit, unsure }
}

/** Names how figures stand. */
export function figureState({ figures: { version }, level }: FigureGround): string {
  const own = level === null ? [] : [...level.known.values()].map(({ downloads, ratings }) => downloads / ratings)
  return [version, ...own, level?.timesOfPlaces ?? ""].join(" ")
}

const kept = new WeakMap<FigureTable, Map<string, FigureFits>>()
/** Of a table with 400,000 apps 100 KB each. */
const MOST_KEPT = 20

/** By a table as it stands: what many ask for is looked through once. */
function keptFits(ranges: FigureRanges, ground: FigureGround, highest: number): FigureFits {
  const { table, version } = ground.figures
  const own = kept.get(table) ?? new Map<string, FigureFits>()
  kept.set(table, own)
  const name = `${version} ${JSON.stringify(ranges)}`
  const held = own.get(name)
  const fits = held && held.fit.length > highest >> 5 ? held : fitsAmong(emptyBits(highest).fill(-1), ranges, ground)
  own.delete(name)
  own.set(name, fits)
  const [oldest] = own.size > MOST_KEPT ? own.keys() : []
  if (oldest !== undefined) own.delete(oldest)
  return fits
}

function fitsAmong(fit: AppBits, ranges: FigureRanges, { figures: { table }, level }: FigureGround): FigureFits {
  const asked = [
    filterOf(table.downloads, ranges.downloads, { moved: BY_PRIOR }),
    filterOf(table.revenue, ranges.revenue, { moved: BY_PRIOR | BY_PRICE, placed: BY_PLACE }),
    filterOf(table.growth, ranges.growth, { moved: null }),
  ].filter(({ isAsked }) => isAsked)
  const times = { ofApp: timesBy(level), ofPlaces: level?.timesOfPlaces ?? 1 }
  const fits = { fit, unsure: new Int32Array(fit.length) }
  for (const filter of asked) narrow(fits, filter, { table, times })
  return fits
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

interface TimedTable {
  table: FigureTable
  times: Times
}

/**
 * Leaves those that do not fail by this filter. In the order of their ids, as figures stand: in that of 80,000 places it took
 * several times as long.
 */
function narrow({ fit, unsure }: FigureFits, filter: Filter, ground: TimedTable): void {
  for (let at = 0; at < fit.length; at++) {
    const left = fit[at]! | unsure[at]!
    if (left === 0) continue
    let fits = 0
    let known = 0
    for (let place = 0; place < 32; place++) {
      const bit = 1 << place
      if ((left & bit) === 0) continue
      const one = fitOfApp(at * 32 + place, filter, ground)
      if (one !== FAILS) fits |= bit
      if (one === FITS) known |= bit
    }
    unsure[at] = (unsure[at]! | ~known) & fits
    fit[at] = fit[at]! & known
  }
}

function fitOfApp(app: number, filter: Filter, { table, times }: TimedTable): number {
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
