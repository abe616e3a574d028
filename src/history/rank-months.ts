import type { Db } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import type { MonthBytes, TermMonths } from "../formulas/timeline.ts"
import type { Side } from "../observations/provenance.ts"
import type { RankedApp } from "../observations/types.ts"
import { type SideApp, sideOf } from "./day-answers.ts"

/**
 * The stored months of every tracked term of an app in a storefront that it tracks, in the order of the terms; `months` are
 * first days. Months in which nothing was measured are left out.
 */
export async function rankMonths(
  sql: Db,
  app: RankedApp,
  side: Side,
  months: readonly string[],
): Promise<TermMonths[]> {
  const [terms = []] = await rankMonthsOf(sql, [sideOf(app, side)], months)
  return terms
}

/** The same of several sides, in their order. */
export async function rankMonthsOf(
  sql: Db,
  sides: readonly SideApp[],
  months: readonly string[],
): Promise<TermMonths[][]> {
  const parts = months.length === 0 ? [] : partsOf(await countTerms(sql, sides), months)
  const rows: (MonthRow & { side: number })[] = []
  for (const part of parts) {
    const read = await readMonths(sql, sides.slice(part.from, part.to), part.months)
    for (const row of read) rows.push({ ...row, side: row.side + part.from })
  }
  const bySide = Map.groupBy(rows, ({ side }) => side)
  return sides.map((_, at) => {
    const byTerm = Map.groupBy(bySide.get(at + 1) ?? [], ({ term }) => term)
    return [...byTerm].map(([term, held]) => ({ term, months: new Map(held.flatMap(entryOf)) }))
  })
}

interface Part {
  /** Places of sides, the last not included. */
  from: number
  to: number
  months: readonly string[]
}

// 3,000 took the embedded database 20 ms, 13,000 took it 135: it serves others in between
const ROWS_AT_ONCE = 2_500

/** As many sides and months at once as have few rows together; at least one month of one side. */
function partsOf(terms: readonly number[], months: readonly string[]): Part[] {
  const parts: Part[] = []
  for (let from = 0; from < terms.length; ) {
    let to = from + 1
    let together = terms[from] as number
    while (to < terms.length && (together + (terms[to] as number)) * months.length <= ROWS_AT_ONCE) {
      together += terms[to++] as number
    }
    const atOnce = Math.max(1, Math.floor(ROWS_AT_ONCE / Math.max(1, together)))
    for (let at = 0; at < months.length; at += atOnce) parts.push({ from, to, months: months.slice(at, at + atOnce) })
    from = to
  }
  return parts
}

type MonthRow = { side: number; term: string } & (({ month: string } & MonthBytes) | { month: null })

function entryOf(row: MonthRow): [string, MonthBytes][] {
  if (row.month === null) return []
  const { month, ranks, sources, depths } = row
  return [[month, { ranks, sources, depths }]]
}

async function countTerms(sql: Db, sides: readonly SideApp[]): Promise<number[]> {
  const rows = await sql<{ terms: number }[]>`
    select (select count(*) from tracked_term where app_id = s.tracked and country = s.storefront)::int as terms
    from unnest(
      ${sides.map(({ appId }) => appId)}::text[],
      ${sides.map(({ storefront }) => storefront)}::text[]
    ) with ordinality s (tracked, storefront, side)
    order by s.side
    limit 100000`.then(uncut(100_000))
  return rows.map(({ terms }) => terms)
}

// Why both tables are told their months, and as a list: series.ts. Without the `offset 0` all rows of an app were joined to each
// of its terms: 3 apps with 400 terms each took the embedded database 2.4 s, 20 of them half a minute.
async function readMonths(sql: Db, sides: readonly SideApp[], months: readonly string[]): Promise<MonthRow[]> {
  return await sql<MonthRow[]>`
    select s.side::int as side, k.term, m.month, m.ranks, m.sources, m.depths
    from unnest(
      ${sides.map(({ appId }) => appId)}::text[],
      ${sides.map(({ platform }) => platform)}::text[],
      ${sides.map(({ storefront }) => storefront)}::text[],
      ${sides.map(({ own }) => own)}::int[]
    ) with ordinality s (tracked, platform, storefront, own, side)
    join tracked_term k on (k.app_id, k.country) = (s.tracked, s.storefront)
    left join lateral (
      select id
      from list
      where (platform, storefront, term) = (s.platform, s.storefront, k.term)
      offset 0
    ) l on true
    left join lateral (
      select r.month, r.ranks, d.sources, d.depths
      from rank_month r
      join list_month d on (d.list_id, d.month) = (r.list_id, r.month)
      where r.app_id = s.own and r.list_id = l.id
        and r.month in ${sql(months as string[])} and d.month in ${sql(months as string[])}
      offset 0
    ) m on true
    order by s.side, k.position, k.term, m.month
    limit 1000000`.then(uncut(1_000_000))
}
