import type { PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"
import { type Days, dayNumber, monthOf } from "../../lib/days.ts"
import type { StoredMonth } from "../../lib/month-bytes.ts"
import type { RankMonth } from "../formulas/visibility.ts"

type Part = PendingQuery<Row[]>

/** The result of storedMonths. Null if nothing is stored or no month was requested. */
export interface MonthsRow {
  rankBytes: Uint8Array | null
  dayBytes: Uint8Array | null
}

/**
 * Columns for monthsByList: the stored months of an app (a store_app id) and of `lists` (an int[]). The months are
 * consecutive. Each table is read separately: a join per keyword takes a third longer for 1,000 keywords.
 */
export function storedMonths(
  sql: Db,
  { storeAppId, lists }: { storeAppId: Part; lists: Part },
  months: readonly string[],
): Part {
  const [first = null, last = first] = [months[0], months.at(-1)]
  if (first === null) return sql`null::bytea as "rankBytes", null::bytea as "dayBytes"`
  const given = givenMonths(sql, first, last as string)
  const days = sql`select month, sources, depths from list_month where ${given}`
  return sql`
      ${ranksTogether(sql, { storeAppId, lists }, given)} as "rankBytes",
      ${eachMonth(sql, lists, sql`m.sources || m.depths`, days)} as "dayBytes"`
}

/** Returns a column for rankMonthsIn: the stored ranks alone, which suffice where sources and depths do not matter. */
export function storedRanks(sql: Db, app: { storeAppId: Part; lists: Part }, { from, to }: Days): Part {
  return ranksTogether(sql, app, givenMonths(sql, monthOf(from), monthOf(to)))
}

function ranksTogether(sql: Db, { storeAppId, lists }: { storeAppId: Part; lists: Part }, given: Part): Part {
  return eachMonth(
    sql,
    lists,
    sql`m.ranks`,
    sql`select month, ranks from rank_month where app_id = ${storeAppId} and ${given}`,
  )
}

/**
 * Returns a query with a look-up per list: for all lists at once the planner assumes ten and reads all of the app's
 * months for each.
 */
function eachMonth(sql: Db, lists: Part, columns: Part, rows: Part): Part {
  return sql`(
        select string_agg(int4send(l.id) || int4send(m.month - '1970-01-01'::date) || ${columns}, '')
        from unnest(${lists}) l (id)
        cross join lateral (${rows} offset 0) m
      )`
}

const givenMonths = (sql: Db, first: string, last: string) =>
  sql`list_id = l.id and month between ${givenMonth(sql, first)} and ${givenMonth(sql, last)}`

/**
 * Returns a month whose partitions are chosen at execution: not a constant, but a text converted to a date. If
 * partitions are chosen at planning, a generic plan seems more expensive by the number of months, so that each call is
 * planned anew, which takes longer than reading.
 */
function givenMonth(sql: Db, month: string): Part {
  return sql`${month}::text::date`
}

const HEAD = 8
/** Bytes of a month, however many days it has. */
const MONTH = 31

/** Returns the months by list id, oldest first. Months missing in one of the two tables are left out. */
export function monthsByList(
  { rankBytes: ranks, dayBytes: days }: MonthsRow,
  months: readonly string[],
): Map<number, StoredMonth[]> {
  const byList = new Map<number, StoredMonth[]>()
  if (ranks === null || days === null) return byList
  const names = new Map(months.map((month) => [dayNumber(month), month]))
  const ranked = placesIn(ranks, HEAD + MONTH)
  for (const [key, at] of placesIn(days, HEAD + 2 * MONTH)) {
    const ranksAt = ranked.get(key)
    if (ranksAt === undefined) continue
    const [list, number] = [Math.floor(key / MAX_DAYS), key % MAX_DAYS]
    const listMonths = byList.get(list)
    const stored = {
      month: names.get(number) as string,
      ranks,
      sources: days,
      depths: days,
      from: { ranks: ranksAt, sources: at, depths: at + MONTH },
    }
    if (listMonths) listMonths.push(stored)
    else byList.set(list, [stored])
  }
  for (const listMonths of byList.values())
    if (listMonths.length > 1) listMonths.sort((a, b) => (a.month < b.month ? -1 : 1))
  return byList
}

/** Returns the months of storedRanks, in no order. */
export function rankMonthsIn(ranks: Uint8Array | null): RankMonth[] {
  if (ranks === null) return []
  return [...placesIn(ranks, HEAD + MONTH)].map(([key, at]) => {
    return { list: Math.floor(key / MAX_DAYS), first: key % MAX_DAYS, ranks, at }
  })
}

/** A number greater than the day number of any month. */
const MAX_DAYS = 2 ** 20

/** Returns where the bytes of each list and month begin. */
function placesIn(bytes: Uint8Array, length: number): Map<number, number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const places = new Map<number, number>()
  for (let at = 0; at < bytes.length; at += length)
    places.set(view.getInt32(at) * MAX_DAYS + view.getInt32(at + 4), at + HEAD)
  return places
}
