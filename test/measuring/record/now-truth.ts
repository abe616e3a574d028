import type { Sql } from "../../../src/database/types.ts"

interface Reading {
  list: number
  platform: string
  storefront: string
  term: string
  day: string
  source: number
  seenAt: Date
  depth: number
  complete: boolean
  origin: string
  ids: number[]
}

interface Figure {
  list: number
  metric: string
  day: string
  source: string
  seenAt: Date
  score: number | null
  formula: number
}

/** Returns the now rows of every list, calculated from everything stored, row by row. */
export async function nowByTruth(sql: Sql): Promise<{ ranks: object[]; figures: object[] }> {
  const readings = await sql<Reading[]>`
    select r.list_id as list, l.platform, l.storefront, l.term, r.day, r.source, r.seen_at as "seenAt", r.depth,
      r.complete, r.origin, r.app_ids as ids
    from search_results r
    join list l on l.id = r.list_id`
  const figures = await sql<Figure[]>`
    select list_id as list, metric, day, source, seen_at as "seenAt", score, formula
    from keyword_metric`
  const answers = Map.groupBy(
    readings.filter(({ complete }) => complete),
    ({ list }) => list,
  )
  const figuresBy = Map.groupBy(figures, ({ list }) => list)
  const ranks = inOrder(answers).map(([list, rows]) => {
    const { complete: _, ...best } = rows.toSorted(betterReading)[0]!
    return { ...best, ...popularityOf(figuresBy.get(list) ?? [], best.platform) }
  })
  return {
    ranks,
    figures: inOrder(figuresBy).map(([list, rows]) => figuresOf(list, rows)),
  }
}

function inOrder<Row>(lists: Map<number, Row[]>): [number, Row[]][] {
  return [...lists].sort(([a], [b]) => a - b)
}

function betterReading(a: Reading, b: Reading): number {
  if (a.day !== b.day) return a.day > b.day ? -1 : 1
  const ownFirst = Number(a.origin !== "own") - Number(b.origin !== "own")
  return a.source - b.source || ownFirst || b.depth - a.depth || +b.seenAt - +a.seenAt
}

function figuresOf(list: number, rows: readonly Figure[]): object {
  const latest = (which: (row: Figure) => boolean) => {
    const { score, day, seenAt, source } = rows.filter(which).sort(laterFigure)[0] ?? NONE
    return { score, day, seenAt, source }
  }
  const calculated = (metric: string) => {
    const { source: _source, ...figure } = latest((row) => row.metric === metric && row.formula > 0)
    return figure
  }
  return {
    list,
    demand: calculated("demand"),
    hints: calculated("hints"),
    difficulty: calculated("difficulty"),
    estimate: calculated("popularity"),
    published: latest(({ metric, formula }) => metric === "popularity" && formula === 0),
  }
}

/**
 * Returns the popularity that keywords are sorted by, and its last day. An App Store estimate counts as the middle of
 * its band.
 */
function popularityOf(rows: readonly Figure[], platform: string): object {
  const of = rows.filter(({ metric }) => metric === "popularity").sort(laterFigure)
  const published = of.find(({ formula }) => formula === 0)
  const estimate = of.find(({ formula }) => formula > 0)
  const score = estimate?.score ?? null
  const estimated = score === null || platform === "android" ? score : BAND_MIDDLES.find(([from]) => score >= from)![1]
  const popularity = published?.score ?? estimated
  const isEstimate = published?.score == null && popularity !== null
  const until = isEstimate ? new Date(Date.parse(estimate!.day) + 90 * 86_400_000).toISOString().slice(0, 10) : null
  return { popularity: popularity === null ? null : Math.round(popularity), until }
}

/** The minimum score of each band of an estimate, and the middle of that band on Apple's scale. */
const BAND_MIDDLES = [
  [73, 53],
  [59, 28],
  [0, 7],
] as const

const NONE = { score: null, day: null, seenAt: null, source: null }

function laterFigure(a: Figure, b: Figure): number {
  if (a.day !== b.day) return a.day > b.day ? -1 : 1
  return +b.seenAt - +a.seenAt || (a.source < b.source ? -1 : 1)
}

/** Returns the stored now rows. */
export async function readStoredNow(sql: Sql): Promise<{ ranks: object[]; figures: object[] }> {
  const ranks = await sql`
    select list_id as list, platform, storefront, term, day, source, seen_at as "seenAt", depth, origin, app_ids as ids,
      popularity, popular_until as until
    from list_now
    order by list_id`
  const rows = await sql`select * from keyword_now order by list_id`
  const figures = rows.map((row) => {
    const figure = (name: string) => ({ score: row[name], day: row[`${name}_day`], seenAt: row[`${name}_at`] })
    return {
      list: row.list_id,
      demand: figure("demand"),
      hints: figure("hints"),
      difficulty: figure("difficulty"),
      estimate: figure("estimate"),
      published: { ...figure("published"), source: row.published_by },
    }
  })
  return { ranks: [...ranks], figures }
}
