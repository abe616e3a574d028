/** A measured day of a chart. */
export interface ChartReading<App = number> {
  source: string
  /** Places read: an app that is not among `apps` may stand on any below. */
  depth: number
  /** In the order shown, each once; rank = index + 1. */
  apps: readonly App[]
}

/** `rank` is the later one, `was` the earlier. */
interface ChartMove<App = number> {
  app: App
  rank: number
  was: number
}

export interface Movers<App = number> {
  /** Those that moved most first; then the better rank. */
  climbed: ChartMove<App>[]
  fell: ChartMove<App>[]
  /** By rank. */
  entered: Omit<ChartMove<App>, "was">[]
  /** By their last rank. */
  left: Omit<ChartMove<App>, "rank">[]
}

export interface MoversQuery {
  /** The fewest places that count as a climb or a fall; 1 unless said. */
  places?: number
  /** The most of each of the four. */
  limit?: number
}

/**
 * What moved on a chart between two measured days; null where they come from different sources, which cannot be compared.
 * An app has left only when the later reading is at least as deep as its last rank, and has entered only when the earlier
 * one was at least as deep as its new rank: it may have stood below what was read.
 */
export function moversBetween<App>(
  earlier: ChartReading<App>,
  later: ChartReading<App>,
  { places = 1, limit = Number.POSITIVE_INFINITY }: MoversQuery = {},
): Movers<App> | null {
  if (earlier.source !== later.source) return null
  const before = ranksOf(earlier)
  const after = ranksOf(later)
  const stayed = [...after].flatMap(([app, rank]) => (before.has(app) ? { app, rank, was: before.get(app)! } : []))
  const moved = stayed
    .filter(({ rank, was }) => Math.abs(rank - was) >= Math.max(1, places))
    .sort((a, b) => Math.abs(b.rank - b.was) - Math.abs(a.rank - a.was) || a.rank - b.rank)
  return {
    climbed: moved.filter(({ rank, was }) => rank < was).slice(0, limit),
    fell: moved.filter(({ rank, was }) => rank > was).slice(0, limit),
    entered: absentFrom(before, after, earlier.depth)
      .map(([app, rank]) => ({ app, rank }))
      .slice(0, limit),
    left: absentFrom(after, before, later.depth)
      .map(([app, was]) => ({ app, was }))
      .slice(0, limit),
  }
}

function ranksOf<App>({ apps }: ChartReading<App>): Map<App, number> {
  return new Map(apps.map((app, index) => [app, index + 1]))
}

/** Those of `ranks` that are surely not on the other chart, of which so many places were read; by rank. */
function absentFrom<App>(other: ReadonlyMap<App, number>, ranks: ReadonlyMap<App, number>, depth: number) {
  return [...ranks].filter(([app, rank]) => !other.has(app) && rank <= depth)
}
