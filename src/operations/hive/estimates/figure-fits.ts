import { type FigureRange, type Fit, fitOf } from "../../../formulas/estimates/figure-filter.ts"
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
  apps: Iterable<Iterable<number>>,
): Promise<FigureFits> {
  const [{ table, version }, level] = await Promise.all([readFigureTable(ctx.sql), readOwnLevel(ctx)])
  const times = timesBy(level)
  const own = level === null ? [] : [...level.known.values()].map(({ downloads, ratings }) => downloads / ratings)
  const found: FigureFits = { fit: [], unsure: [], state: [version, ...own].join(" "), level }
  for (const some of apps) {
    for (const app of some) {
      const fit = fitOfApp(table, app, ranges, times)
      if (fit !== "fails") (fit === "fits" ? found.fit : found.unsure).push(app)
    }
  }
  return found
}

function fitOfApp(table: FigureTable, app: number, ranges: FigureRanges, times: Times): Fit {
  const downloads = table.downloads[app] ?? Number.NaN
  const revenue = table.revenue[app] ?? Number.NaN
  const growth = table.growth[app] ?? Number.NaN
  const flags = table.flags[app] ?? 0
  const moved = flags & BY_PRIOR ? times(app, table.genres[app]!) : 1
  const one = fitOfAmount(downloads, moved, ranges.downloads)
  if (one === "fails") return one
  const other = fitOfAmount(revenue, flags & BY_PRICE ? moved : 1, ranges.revenue)
  if (other === "fails") return other
  const third = fitOf(Number.isNaN(growth) ? null : growth, null, ranges.growth)
  if (third === "fails") return third
  return one === "unknown" || other === "unknown" || third === "unknown" ? "unknown" : "fits"
}

/** Compared as it is shown: whole. */
function fitOfAmount(amount: number, times: number, range: FigureRange): Fit {
  if (Number.isNaN(amount)) return fitOf(null, null, range)
  return amount < 0 ? fitOf(null, Math.round(-amount), range) : fitOf(Math.round(amount * times), null, range)
}

type Times = (app: number, genre: number) => number

function timesBy(level: OwnLevel | null): Times {
  if (level === null) return () => 1
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
