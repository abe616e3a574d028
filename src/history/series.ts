import type { Db } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import { type Point, pointsOf } from "../formulas/month-bytes.ts"
import type { Side } from "../observations/provenance.ts"
import { type RankedApp, type RankSource, sourceOf } from "../observations/types.ts"
import { addDays, monthOf } from "../vocabulary/days.ts"
import { allTerms, ownId } from "./ranks.ts"

export interface TermSeries {
  term: string
  /** Measured days only, oldest first; rank null = absent that day. */
  points: RankPoint[]
}

export interface RankPoint extends Omit<Point, "source"> {
  source: RankSource
}

/**
 * The rank of every tracked term of an app, or of the one asked for, from `from` to `to` inclusive (UTC days). A storefront
 * that the app does not track answers all the app's terms without points.
 */
export async function rankSeries(sql: Db, app: RankedApp, asked: Asked): Promise<TermSeries[]> {
  const { from, to, storefront } = asked
  if (!app.countries.includes(storefront)) {
    return (await allTerms(sql, app)).map((term) => ({ term, points: [] }))
  }
  const rows = await readMonths(sql, app, asked)
  const byTerm = Map.groupBy(rows, ({ term }) => term)
  return [...byTerm].map(([term, months]) => seriesOf(term, months.filter(isMeasured), from, to))
}

interface Asked extends Side {
  from: string
  to: string
  term?: string
}

interface Month {
  term: string
  month: string
  ranks: Uint8Array
  sources: Uint8Array
  depths: Uint8Array
}

type MonthRow = Month | { term: string; month: null }

function isMeasured(row: MonthRow): row is Month {
  return row.month !== null
}

// Each table is told its months, for what is said of one side of a join leaves every partition of the other in the plan.
// They are listed: a driver's statement is soon planned without its values, a range is then taken for a two hundredth of
// the rows, and 200 keywords were joined row by row (4.7 ms where a list takes 1.6 ms). The `offset 0` keeps each keyword's own
// lookup: before the tables' first statistics all rows of the app were joined to every list, and 60 keywords took 15 s.
async function readMonths(sql: Db, app: RankedApp, asked: Asked): Promise<MonthRow[]> {
  const { from, to, platform, storefront, term = null } = asked
  const id = ownId(app, asked)
  const months = monthsFrom(from, to)
  return await sql<MonthRow[]>`
    select k.term, m.month, m.ranks, m.sources, m.depths
    from tracked_term k
    left join lateral (
      select id
      from list
      where (platform, storefront, term) = (${platform}, k.country, k.term)
      offset 0
    ) l on true
    left join lateral (
      select r.month, r.ranks, d.sources, d.depths
      from rank_month r
      join list_month d on (d.list_id, d.month) = (r.list_id, r.month)
      where r.app_id = ${id} and r.list_id = l.id
        and r.month in ${sql(months)} and d.month in ${sql(months)}
      offset 0
    ) m on true
    where k.app_id = ${app.id} and k.country = ${storefront} and (${term}::text is null or k.term = ${term})
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

function seriesOf(term: string, months: readonly Month[], from: string, to: string): TermSeries {
  const points = months.flatMap((month) => pointsOf(month, from, to))
  return { term, points: points.map((point) => ({ ...point, source: sourceOf(point.source) })) }
}
