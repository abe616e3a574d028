import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import type { StoredMonth } from "../../lib/month-bytes.ts"
import type { MonthBytes, TermMonths } from "../formulas/timeline.ts"
import { type SideApp, sideOf } from "./day-answers.ts"
import { latestAnswer } from "./latest-answer.ts"

/**
 * Returns the stored months of an app's terms, in the order of the terms. `months` are first days; unmeasured ones are
 * left out.
 */
export async function readRankMonths(
  sql: Db,
  app: RankedApp,
  side: Side,
  months: readonly string[],
): Promise<TermMonths[]> {
  const [terms = []] = await readSidesRankMonths(sql, [sideOf(app, side)], months)
  return terms.map(({ term, months }) => ({
    term,
    months: new Map(months.map((month) => [month.month, partedBytes(month)])),
  }))
}

interface StoredTerm {
  term: string
  /** Oldest first. Many months share one buffer: a view per month would double the time for 500 keywords. */
  months: StoredMonth[]
}

/** Returns the stored months of several sides, in their order. */
export async function readSidesRankMonths(
  sql: Db,
  sides: readonly SideApp[],
  months: readonly string[],
): Promise<StoredTerm[][]> {
  const parts = months.length === 0 ? [] : partsOf(await countTerms(sql, sides), months)
  const bySide = sides.map(() => new Map<string, StoredTerm>())
  for (const part of parts) {
    const read = await readMonths(sql, sides.slice(part.from, part.to), part.months)
    for (const row of read) addMonths(bySide[part.from + row.side - 1] as Map<string, StoredTerm>, row)
  }
  return bySide.map((terms) => [...terms.values()])
}

function addMonths(byTerm: Map<string, StoredTerm>, { terms, months, bytes }: StoredMonths): void {
  let at = 0
  for (const [place, month] of months.entries()) {
    const term = terms[place] as string
    const stored = byTerm.get(term) ?? { term, months: [] }
    byTerm.set(term, stored)
    if (month === null) continue
    const from = { ranks: at, sources: at + MONTH_DAYS, depths: at + 2 * MONTH_DAYS }
    stored.months.push({ month, ranks: bytes, sources: bytes, depths: bytes, from })
    at += MONTH_BYTES
  }
}

interface Part {
  /** Indexes of sides; `to` is exclusive. */
  from: number
  to: number
  months: readonly string[]
}

// Rows per statement. They are few, because other callers wait: 3,000 rows take the embedded database 20 ms and 13,000
// take 135 ms. Parsing 2,500 rows takes 6 ms of the event loop.
const ROWS_AT_ONCE = 1_200

/** Splits sides and months into batches of at most ROWS_AT_ONCE rows, each with at least one month of one side. */
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

/** A term and a month per index. The month is null if none is stored; the bytes of the others follow one another. */
interface StoredMonths {
  terms: string[]
  months: (string | null)[]
  bytes: Uint8Array
}

async function countTerms(sql: Db, sides: readonly SideApp[]): Promise<number[]> {
  const rows = await sql<{ terms: number }[]>`
    select (select count(*) from tracked_term where app_id = s.tracked and country = s.storefront)::int as terms
    from unnest(
      ${sides.map(({ appId }) => appId)}::text[],
      ${sides.map(({ storefront }) => storefront)}::text[]
    ) with ordinality s (tracked, storefront, side)
    order by s.side`
  return rows.map(({ terms }) => terms)
}

async function readMonths(
  sql: Db,
  sides: readonly SideApp[],
  months: readonly string[],
): Promise<(StoredMonths & { side: number })[]> {
  const keyword = { platform: sql`s.platform`, storefront: sql`s.storefront`, term: sql`k.term` }
  return await sql<(StoredMonths & { side: number })[]>`
    -- One row per side: a row per month takes twice as long to parse, and three ordered aggregates take longer to run.
    select k.side::int as side, json_agg(k.term) as terms, json_agg(k.month) as months,
      coalesce(string_agg(k.bytes, ''::bytea), '') as bytes
    from (
      select s.side, k.term, m.month, m.bytes
      from unnest(
        ${sides.map(({ appId }) => appId)}::text[],
        ${sides.map(({ platform }) => platform)}::text[],
        ${sides.map(({ storefront }) => storefront)}::text[],
        ${sides.map(({ storeAppId }) => storeAppId)}::int[]
      ) with ordinality s (tracked, platform, storefront, store_app_id, side)
      join tracked_term k on (k.app_id, k.country) = (s.tracked, s.storefront)
      left join lateral (${latestAnswer(sql, sql`list_id`, keyword)}) l on true
      left join lateral (${monthRows(sql, { storeAppId: sql`s.store_app_id`, list: sql`l.list_id` }, months)}) m on true
      order by s.side, k.position, k.term, m.month
    ) k
    group by k.side
    order by k.side`
}

// series.ts explains why both tables are filtered by month. Without offset 0, 3 apps with 400 terms each took 2.4 s.
/** Returns a query of the stored bytes of an app and a list in these months. */
function monthRows(
  sql: Db,
  { storeAppId, list }: { storeAppId: ReturnType<Db>; list: ReturnType<Db> },
  months: readonly string[],
) {
  return sql`
      select r.month, ${monthBytes(sql)} as bytes
      from rank_month r
      join list_month d on (d.list_id, d.month) = (r.list_id, r.month)
      where r.app_id = ${storeAppId} and r.list_id = ${list}
        and r.month in ${sql(months as string[])} and d.month in ${sql(months as string[])}
      offset 0`
}

/**
 * Returns the bytes of the rows `r` of rank_month and `d` of list_month as one value, which parses three times as fast
 * as three.
 */
function monthBytes(sql: Db) {
  return sql`r.ranks || d.sources || d.depths`
}

/** Splits the bytes that monthBytes joined. */
function partedBytes({ ranks: bytes, from }: StoredMonth): MonthBytes {
  const begun = from!
  return {
    ranks: bytes.subarray(begun.ranks, begun.sources),
    sources: bytes.subarray(begun.sources, begun.depths),
    depths: bytes.subarray(begun.depths, begun.depths + MONTH_DAYS),
  }
}

/** Bytes of a stored month, however many days it has. */
const MONTH_DAYS = 31
/** Bytes of its ranks, sources and depths together. */
const MONTH_BYTES = 3 * MONTH_DAYS
