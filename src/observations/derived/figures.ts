import type { Sql } from "../../database/types.ts"
import { ladder } from "../../formulas/hint-ladder.ts"
import { addDays, dayOf } from "../../vocabulary/days.ts"
import { KINDS, kindNamed } from "../kinds.ts"
import type { Side } from "../provenance.ts"
import { DEMO, type Observation } from "../types.ts"
import { SHOWN_DAYS } from "./keyword-figures.ts"
import { latestTenBetween, YOUNG_DAYS } from "./keyword-inputs.ts"
import { deriveKeywordMetrics } from "./keyword-metrics.ts"

/** Keywords looked at by one statement, and derived in one transaction: some 15 ms on the embedded database. */
const AT_ONCE = 25

interface FigureOptions {
  now: () => Date
  /** Awaited between two transactions, so that others get their turn on the embedded database's one backend. */
  pause: () => Promise<void>
}

/**
 * Of all keywords that readings of the last SHOWN_DAYS days can change, as if each day had been calculated on that day.
 * It goes by what is stored alone: the same in any order, from any number of processes.
 */
export async function deriveFigures(sql: Sql, sides: Sides, { now, pause }: FigureOptions): Promise<void> {
  for (const side of sides.values()) {
    let after = ""
    for (;;) {
      const at = now()
      const terms = await readTerms(sql, side, { after, since: addDays(dayOf(at), -SHOWN_DAYS) })
      const days = await readDays(sql, side, terms, dayOf(at))
      for (const [day, named] of days) {
        const lists = named.map((term) => ({ ...side, term }))
        await pause()
        await sql.begin((tx) => deriveKeywordMetrics(tx, lists, endOf(day)))
      }
      if (terms.length < AT_ONCE) break
      after = terms.at(-1) as string
    }
  }
}

export type Sides = Map<string, Side>

/** Adds where the reading can change keywords' figures. */
export function noteSide(sides: Sides, seen: Observation, kinds = KINDS): void {
  if (!kindNamed(seen.kind, kinds)?.figures || seen.origin === DEMO) return
  if (!("storefront" in seen) || !("platform" in seen)) return
  const { platform, storefront } = seen
  sides.set(`${platform} ${storefront}`, { platform, storefront })
}

/** The day's last moment, also of today: the age of an update is then the same whenever it is reckoned. */
function endOf(day: string): Date {
  return new Date(`${day}T23:59:59.999Z`)
}

/** Terms that were searched lately, and those that are tracked, which may have suggestions alone. */
async function readTerms(
  sql: Sql,
  { platform, storefront }: Side,
  { after, since }: { after: string; since: string },
): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from (
      (
        select term
        from list
        where platform = ${platform} and storefront = ${storefront} and last_day >= ${since}::date and term > ${after}
        order by term
        limit ${AT_ONCE}
      )
      union
      (
        select distinct term
        from tracked_term
        where country = ${storefront} and term > ${after}
        order by term
        limit ${AT_ONCE}
      )
    ) t
    order by term
    limit ${AT_ONCE}`
  return rows.map(({ term }) => term)
}

/** The terms to calculate as of each day, the earliest day first. */
async function readDays(
  sql: Sql,
  side: Side,
  terms: readonly string[],
  today: string,
): Promise<[day: string, terms: string[]][]> {
  if (terms.length === 0) return []
  const found = [...(await readSearchDays(sql, side, terms, today)), ...(await readHintDays(sql, side, terms, today))]
  const days = Map.groupBy(found, ({ day }) => day)
  return [...days]
    .map(([day, rows]): [string, string[]] => [day, [...new Set(rows.map(({ term }) => term))].sort()])
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

interface TermDay {
  term: string
  day: string
}

/** Ratings count as far from the results as a figure may rest on both. */
async function readSearchDays(
  sql: Sql,
  { platform, storefront }: Side,
  terms: readonly string[],
  today: string,
): Promise<TermDay[]> {
  return await sql<TermDay[]>`
    select distinct l.term, d.day
    from list l
    cross join lateral (${latestTenBetween(sql, { from: addDays(today, -SHOWN_DAYS), to: today })}) r
    cross join lateral (
      select r.day
      union all
      select max(c.day)
      from rating_day c
      where c.app_id = any(r.app_ids) and c.storefront = l.storefront
        and c.quarter between date_trunc('quarter', (r.day - ${YOUNG_DAYS}::int)::timestamp)::date
          and date_trunc('quarter', (r.day + ${YOUNG_DAYS}::int)::timestamp)::date
        and c.until >= r.day - ${YOUNG_DAYS}::int
        and c.day between r.day - ${YOUNG_DAYS}::int and least(r.day + ${YOUNG_DAYS}::int, ${today}::date)
        and c.ratings is not null and c.origin <> ${DEMO}
    ) d
    where l.platform = ${platform} and l.storefront = ${storefront} and l.term = any(${terms as string[]}::text[])
      and d.day is not null
    order by d.day, l.term
    limit ${2 * AT_ONCE}`
}

async function readHintDays(
  sql: Sql,
  { platform, storefront }: Side,
  terms: readonly string[],
  today: string,
): Promise<TermDay[]> {
  const rungs = terms.flatMap((term) => ladder(term).map((prefix) => ({ term, prefix })))
  return await sql<TermDay[]>`
    select k.term, max(h.day) as day
    from unnest(
      ${rungs.map(({ term }) => term)}::text[],
      ${rungs.map(({ prefix }) => prefix)}::text[]
    ) k (term, prefix)
    join hint_answer h on (h.platform, h.storefront, h.prefix) = (${platform}, ${storefront}, k.prefix)
    where h.day between ${addDays(today, -SHOWN_DAYS)} and ${today}
    group by k.term
    order by k.term
    limit ${AT_ONCE}`
}
