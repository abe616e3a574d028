/** A measured day of a chart. */
export interface ChartReading<App = number> {
  source: string
  /** How many places were read. An app that is not in `apps` may be on any place below. */
  depth: number
  /** The apps in the order shown, without duplicates; rank = index + 1. */
  apps: readonly App[]
}

/** `rank` is the later rank, `was` the earlier. */
interface ChartMove<App = number> {
  app: App
  rank: number
  was: number
}

export interface Movers<App = number> {
  /** The largest moves first, then the better rank. */
  climbed: ChartMove<App>[]
  fell: ChartMove<App>[]
  /** Ordered by rank. */
  entered: Omit<ChartMove<App>, "was">[]
  /** Ordered by their last rank. */
  left: Omit<ChartMove<App>, "rank">[]
}

export interface MoversQuery {
  /** The minimum number of places of a climb or a fall. Default 1. */
  places?: number
  /** The maximum length of each of the four lists. */
  limit?: number
}

/**
 * Returns what moved on a chart between two measured days. Null if their sources differ, because these cannot be
 * compared. An app has left only if the later reading is at least as deep as its last rank, and has entered only if the
 * earlier one was at least as deep as its new rank: otherwise it may have been below the places read.
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

/**
 * Returns the entries of `ranks` that are certainly not on the other chart, whose first `depth` places were read. By
 * rank.
 */
function absentFrom<App>(other: ReadonlyMap<App, number>, ranks: ReadonlyMap<App, number>, depth: number) {
  return [...ranks].filter(([app, rank]) => !other.has(app) && rank <= depth)
}
