import type { Side } from "../../core/observation/provenance.ts"
import { ownId, type RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import { type Days, monthsOf } from "../../lib/days.ts"
import { eachPoint, type Point, type StoredMonth } from "../../lib/month-bytes.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { numbersIn, numbersTogether, termsIn, termsTogether } from "./columns.ts"
import { latestAnswer } from "./latest-answer.ts"
import { readAllTerms } from "./ranks.ts"
import { type MonthsRow, monthsByList, storedMonths } from "./stored-months.ts"

export interface TermSeries {
  term: string
  /** Its position among the app's keywords. Later additions have higher positions. */
  position: number
  /** Measured days only, oldest first. `rank` is null if the app was absent that day. */
  points: RankPoint[]
}

export interface RankPoint extends Omit<Point, "source"> {
  source: RankSource
}

/**
 * Returns series in the app's order. If the app does not track the storefront, returns all its terms without points.
 */
export async function readRankSeries(sql: Db, app: RankedApp, query: SeriesQuery): Promise<TermSeries[]> {
  const { from, to, storefront } = query
  if (!app.countries.includes(storefront)) {
    const terms = (await readAllTerms(sql, app)).map((term, position) => ({ term, position, points: [] }))
    return partOf(terms, query)
  }
  const { limit: most = Number.POSITIVE_INFINITY } = query
  const together = Math.ceil(ROWS_AT_ONCE / Math.max(1, monthsOf({ from, to }).length))
  const all: TermSeries[] = []
  for (let after = query.after; all.length < most; after = all.at(-1)) {
    const limit = Math.min(together, most - all.length)
    const read = await readSeries(sql, app, { ...query, after, limit })
    all.push(...read)
    if (read.length < limit) break
  }
  return all
}

/** Rows per statement: a year of 1,000 keywords at once blocks the event loop for 50 ms. */
const ROWS_AT_ONCE = 2_000

async function readSeries(sql: Db, app: RankedApp, query: SeriesQuery): Promise<TermSeries[]> {
  const { from, to } = query
  const months = monthsOf({ from, to })
  const row = await readMonths(sql, app, query, months)
  const stored = monthsByList(row, months)
  const positions = numbersIn(row.positions ?? "")
  const listIds = numbersIn(row.listIds ?? "")
  const seriesIn = (term: string, at: number): TermSeries => {
    const listMonths = stored.get(listIds[at] ?? 0) ?? []
    return { term, position: positions[at] as number, points: seriesOf(listMonths, { from, to }) }
  }
  return termsIn(row.terms).map(seriesIn)
}

interface SeriesQuery extends Side {
  from: string
  to: string
  terms?: readonly string[] | undefined
  limit?: number | undefined
  /** Only keywords after this one. */
  after?: SeriesPlace | undefined
}

/** The position of a term among the app's. Terms are added at the end, so additions never change earlier pages. */
export type SeriesPlace = Pick<TermSeries, "term" | "position">

/**
 * Returns a page of a full list, as readMonths does for a tracked storefront. If the last term of the previous page is
 * gone, the page begins at that term's position.
 */
function partOf(all: readonly TermSeries[], { terms, limit, after }: SeriesQuery): TermSeries[] {
  const last = after && all.findIndex(({ term }) => term === after.term)
  const from = !after ? 0 : last === -1 ? after.position : (last as number) + 1
  const wanted = all.slice(from).filter(({ term }) => terms?.includes(term) ?? true)
  return wanted.slice(0, limit)
}

/** Each text has one part per keyword. Null if there are none. */
interface SeriesRow extends MonthsRow {
  terms: string | null
  positions: string | null
  listIds: string | null
}

async function readMonths(
  sql: Db,
  app: RankedApp,
  { platform, storefront, terms, limit, after }: SeriesQuery,
  months: readonly string[],
): Promise<SeriesRow> {
  const keyword = { platform: sql`${platform}`, storefront: sql`${storefront}`, term: sql`k.term` }
  const ranked = {
    storeAppId: sql`${ownId(app, { platform, storefront })}::int`,
    lists: sql`(select lists from list_ids)::int[]`,
  }
  const [row] = await sql<[SeriesRow]>`
    with term as materialized (
      select k.term, k.position, l.list_id
      from (
        select term, position
        from tracked_term
        where app_id = ${app.id} and country = ${storefront}
          ${terms ? sql`and term = any(${terms as string[]}::text[])` : sql``}
          and (${after?.position ?? null}::int is null
            or (position, term) > (${after?.position ?? null}::int, ${after?.term ?? null}::text))
        order by position, term
        limit ${limit ?? null}::int
      ) k
      left join lateral (${latestAnswer(sql, sql`list_id`, keyword)}) l on true
      order by k.position, k.term
    ), list_ids as materialized (
      select array_agg(list_id) as lists
      from term
    )
    select ${termsTogether(sql, sql`term`)} as terms, ${numbersTogether(sql, sql`position`)} as positions,
      ${numbersTogether(sql, sql`list_id`)} as "listIds", ${storedMonths(sql, ranked, months)}
    from term`
  return row
}

function seriesOf(months: readonly StoredMonth[], { from, to }: Days): RankPoint[] {
  const points: RankPoint[] = []
  for (const month of months)
    eachPoint(month, from, to, (day, rank, source, depth) =>
      points.push({ day, rank, source: sourceOf(source), depth }),
    )
  return points
}
