import type { Db } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import { eachPoint, type Point } from "../formulas/month-bytes.ts"
import type { Side } from "../observations/provenance.ts"
import { ownId, type RankedApp, type RankSource, sourceOf } from "../observations/types.ts"
import { addDays, monthOf } from "../vocabulary/days.ts"
import { eachOf, inPieces } from "../vocabulary/pieces.ts"
import { latestAnswer } from "./keywords/latest-answer.ts"
import { monthBytes, partedBytes } from "./rank-months.ts"
import { readAllTerms } from "./ranks.ts"

export interface TermSeries {
  term: string
  /** Its place among the app's keywords; those added later have higher ones. */
  position: number
  /** Measured days only, oldest first; rank null = absent that day. */
  points: RankPoint[]
}

export interface RankPoint extends Omit<Point, "source"> {
  source: RankSource
}

/** In order. A storefront that the app does not track answers all the app's terms without points. */
export async function readRankSeries(sql: Db, app: RankedApp, query: SeriesQuery): Promise<TermSeries[]> {
  const { from, to, storefront } = query
  if (!app.countries.includes(storefront)) {
    const terms = (await readAllTerms(sql, app)).map((term, position) => ({ term, position, points: [] }))
    return partOf(terms, query)
  }
  const { limit: most = Number.POSITIVE_INFINITY } = query
  const together = Math.ceil(ROWS_AT_ONCE / monthsFrom(from, to).length)
  const all: TermSeries[] = []
  for (let after = query.after; all.length < most; after = all.at(-1)) {
    const limit = Math.min(together, most - all.length)
    const read = await readSeries(sql, app, { ...query, after, limit })
    all.push(...read)
    if (read.length < limit) break
  }
  return all
}

/** Of one statement, which gives a row a keyword and month: at once a year of 1,000 keywords held the thread for 50 ms. */
const ROWS_AT_ONCE = 2_000

async function readSeries(sql: Db, app: RankedApp, query: SeriesQuery): Promise<TermSeries[]> {
  const byTerm = Map.groupBy(await readMonths(sql, app, query), ({ term }) => term)
  const seriesIn = ([term, months]: [string, MonthRow[]]): TermSeries => {
    const { position } = months[0] as MonthRow
    return { term, position, points: seriesOf(months.filter(isMeasured), query.from, query.to) }
  }
  return await inPieces(eachOf([...byTerm], seriesIn))
}

interface SeriesQuery extends Side {
  from: string
  to: string
  terms?: readonly string[] | undefined
  limit?: number | undefined
  /** Those behind this one. */
  after?: SeriesPlace | undefined
}

/** Where a term stands among the app's. Terms are added at the end, so no page that was read already changes by that. */
export type SeriesPlace = Pick<TermSeries, "term" | "position">

/** The part of a whole list that readMonths reads of a tracked storefront. A term that is gone left its place to the next. */
function partOf(all: readonly TermSeries[], { terms, limit, after }: SeriesQuery): TermSeries[] {
  const last = after && all.findIndex(({ term }) => term === after.term)
  const from = !after ? 0 : last === -1 ? after.position : (last as number) + 1
  const wanted = all.slice(from).filter(({ term }) => terms?.includes(term) ?? true)
  return wanted.slice(0, limit)
}

interface Month {
  term: string
  position: number
  month: string
  bytes: Uint8Array
}

type MonthRow = Month | { term: string; position: number; month: null }

function isMeasured(row: MonthRow): row is Month {
  return row.month !== null
}

// Each table is told its months, for what is said of one side of a join leaves every partition of the other in the plan.
// They are listed: a driver's statement is soon planned without its values, a range is then taken for a two hundredth of
// the rows, and 200 keywords were joined row by row (4.7 ms where a list takes 1.6 ms). The `offset 0` keeps each keyword's own
// lookup: before the tables' first statistics all rows of the app were joined to every list, and 60 keywords took 15 s.
async function readMonths(sql: Db, app: RankedApp, query: SeriesQuery): Promise<MonthRow[]> {
  const { from, to, platform, storefront, terms, limit = null, after } = query
  const id = ownId(app, query)
  const months = monthsFrom(from, to)
  const keyword = { platform: sql`${platform}`, storefront: sql`k.country`, term: sql`k.term` }
  return await sql<MonthRow[]>`
    select k.term, k.position, m.month, m.bytes
    from (
      select term, country, position
      from tracked_term
      where app_id = ${app.id} and country = ${storefront}
        ${terms ? sql`and term = any(${terms as string[]}::text[])` : sql``}
        and (${after?.position ?? null}::int is null or (position, term) > (${after?.position ?? null}::int, ${after?.term ?? null}::text))
      order by position, term
      limit ${limit}::int
    ) k
    left join lateral (${latestAnswer(sql, sql`list_id`, keyword)}) l on true
    left join lateral (
      select r.month, ${monthBytes(sql)} as bytes
      from rank_month r
      join list_month d on (d.list_id, d.month) = (r.list_id, r.month)
      where r.app_id = ${id} and r.list_id = l.list_id
        and r.month in ${sql(months)} and d.month in ${sql(months)}
      offset 0
    ) m on true
    order by k.position, k.term, m.month
    limit 1000000`.then(uncut(1_000_000))
}

/** The first days of the months that these days lie in, oldest first; never none. */
function monthsFrom(from: string, to: string): string[] {
  const months = [monthOf(from)]
  for (;;) {
    const next = monthOf(addDays(months.at(-1) as string, 31))
    if (next > to) return months
    months.push(next)
  }
}

function seriesOf(months: readonly Month[], from: string, to: string): RankPoint[] {
  const points: RankPoint[] = []
  for (const { month, bytes } of months)
    eachPoint({ month, ...partedBytes(bytes) }, from, to, (day, rank, source, depth) =>
      points.push({ day, rank, source: sourceOf(source), depth }),
    )
  return points
}
