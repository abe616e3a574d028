import type { PendingQuery, Row } from "postgres"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, monthsOf } from "../../lib/days.ts"
import type { RankMove } from "../formulas/rank-moves.ts"
import { figuresOf, SHOWN_DAYS } from "../store/keyword-figures.ts"
import { popularityOrderOf } from "../store/popularity-order.ts"
import { numbersIn, numbersTogether, termsIn, termsTogether } from "./columns.ts"
import type { SideApp } from "./day-answers.ts"
import { LOOK_BACK_DAYS, termDay } from "./side-days.ts"
import { type MonthsRow, monthsByList, storedMonths } from "./stored-months.ts"
import { trackedLists } from "./tracked-lists.ts"

export interface SideStanding {
  /** The latest day on which any of the keywords was measured. Null if none ever was. */
  day: string | null
  /** Time of the latest reading of that day. Null if there is none. */
  measuredAt: Date | null
  tracked: number
  measured: number
  ranked: number
  top3: number
  top10: number
  best: number | null
}

/** Counts an app's keywords on the day shown, in SQL: 1,000 take the embedded database 5 ms. */
export async function readStanding(sql: Sql, side: SideApp): Promise<SideStanding> {
  const [standing] = await sql<[SideStanding]>`
    select min(day) as day, max(seen_at) filter (where rank is not null) as "measuredAt", count(*)::int as tracked,
      count(rank)::int as measured, count(nullif(rank, 0))::int as ranked,
      count(*) filter (where rank between 1 and 3)::int as top3,
      count(*) filter (where rank between 1 and 10)::int as top10, min(nullif(rank, 0))::int as best
    from (
      select day, seen_at, case when last_day = day then rank end as rank
      from (
        select last_day, seen_at, rank, max(last_day) over () as day
        from (${trackedLists(sql, side)}) k
      ) k
    ) k`
  return standing
}

/** A keyword on the day shown. */
export interface TermStanding {
  term: string
  /** Null if it was never measured and has no figures. */
  listId: number | null
  measured: boolean
  /** Null if not measured, or absent. */
  rank: number | null
  depth: number | null
  /**
   * The value of the requested sort key; the greatest value comes first. Null if no key was requested or there is no
   * value.
   */
  key: number | null
  /** The move since the previous measured day. Null if it was not requested or cannot be determined. */
  move: RankMove | null
}

interface SideStandings {
  /** The latest day on which any of the keywords was measured. Null if none ever was. */
  day: string | null
  /** Time of the day's latest reading, ISO 8601. */
  measuredAt: string | null
  /** Ordered as in the app. */
  terms: TermStanding[]
}

type StandingKey = "term" | "popularity" | "difficulty"

interface StandingsQuery {
  today: string
  key: StandingKey | null
  /** Whether to calculate the moves. */
  isMoved: boolean
}

/** Returns every keyword of an app; `more` adds a key and moves. Moves of an earlier day take a second statement. */
export async function readStandings(sql: Sql, side: SideApp, more: StandingsQuery | null): Promise<SideStandings> {
  const recent = more?.isMoved ? addDays(more.today, -RECENT_DAYS) : null
  const months = recent === null ? [] : comparedMonths(recent, more!.today)
  const row = side.storeAppId === null ? undefined : await readRow(sql, side, more, months)
  if (!row) return { day: null, measuredAt: null, terms: [] }
  const { day } = row
  if (recent === null || day === null || day >= recent) return standingsIn(row, months)
  const earlier = comparedMonths(day, day)
  return standingsIn((await readRow(sql, side, more, earlier)) ?? row, earlier)
}

const RECENT_DAYS = 2

/** Returns the months in which a day from `first` to `last` is compared with the days before it. */
function comparedMonths(first: string, last: string): string[] {
  return monthsOf({ from: addDays(first, -LOOK_BACK_DAYS), to: last })
}

/** Each text has one part per keyword. */
interface StandingsRow extends MonthsRow {
  day: string | null
  seenAt: Date | null
  terms: string
  listIds: string
  ranks: string
  depths: string
  keys: string
}

async function readRow(
  sql: Sql,
  side: SideApp,
  more: StandingsQuery | null,
  months: readonly string[],
): Promise<StandingsRow | undefined> {
  const isFigure = more?.key === "popularity" || more?.key === "difficulty"
  const ofDay = (column: PendingQuery<Row[]>) =>
    numbersTogether(sql, sql`case when t.last_day = l.day then ${column} end`)
  const lists = sql`(select lists from list_ids)::int[]`
  const [row] = await sql<StandingsRow[]>`
    with term as materialized (
      select t.*, ${keyOf(sql, more, side.platform)} as key
      from (${trackedLists(sql, side)}) t
      ${isFigure ? sql`left join lateral (${figuresOf(sql, sql`t.list_id`)}) n on true` : sql``}
      order by t.position, t.term
    ), list_ids as materialized (
      select array_agg(list_id) as lists
      from term
      where last_day is not null
    ), latest as materialized (
      select max(last_day) as day
      from term
    )
    select l.day, max(t.seen_at) filter (where t.last_day = l.day) as "seenAt",
      ${termsTogether(sql, sql`t.term`)} as terms,
      ${numbersTogether(sql, sql`t.list_id`)} as "listIds", ${ofDay(sql`t.rank`)} as ranks,
      ${ofDay(sql`t.depth`)} as depths, ${numbersTogether(sql, sql`t.key`)} as keys,
      ${storedMonths(sql, { storeAppId: sql`${side.storeAppId}::int`, lists }, months)}
    from term t
    cross join latest l
    group by l.day`
  return row
}

/** Returns the column to order by. A figure that is too old to be shown is null. */
function keyOf(sql: Sql, more: StandingsQuery | null, platform: Platform) {
  if (!more?.key) return sql`null::int`
  const { key, today } = more
  const since = addDays(today, -SHOWN_DAYS)
  if (key === "term") return sql`-row_number() over (order by t.term)`
  if (key === "popularity")
    return popularityOrderOf(sql, {
      published: sql`n.published`,
      estimate: sql`case when n.estimate_day >= ${since}::date then n.estimate end`,
      platform: sql`${platform}`,
    })
  return sql`case when n.difficulty_day >= ${since}::date then n.difficulty end`
}

function standingsIn(row: StandingsRow, months: readonly string[]): SideStandings {
  const { day, seenAt } = row
  const [listIds, ranks, depths, keys] = [row.listIds, row.ranks, row.depths, row.keys].map(numbersIn)
  const stored = monthsByList(row, months)
  const span = day === null ? null : { from: addDays(day, -LOOK_BACK_DAYS), day }
  const terms = termsIn(row.terms).map((term, at): TermStanding => {
    const [listId, rank] = [listIds![at] as number | null, ranks![at] as number | null]
    const termMonths = span && stored.get(listId ?? 0)
    return {
      term,
      listId,
      measured: rank !== null,
      rank: rank || null,
      depth: depths![at] as number | null,
      key: keys![at] as number | null,
      move: termMonths ? termDay(term, termMonths, span).move : null,
    }
  })
  return { day, measuredAt: seenAt?.toISOString() ?? null, terms }
}
