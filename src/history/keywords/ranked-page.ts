import type { Sql } from "../../database/types.ts"
import {
  figures,
  figuresOf,
  type KeywordMetrics,
  type MetricsRow,
  metricsOf,
  SHOWN_DAYS,
  UNMEASURED,
} from "../../observations/derived/keyword-figures.ts"
import type { Side } from "../../observations/provenance.ts"
import { ownId, type RankedApp } from "../../observations/types.ts"
import { addDays } from "../../vocabulary/days.ts"
import { answerOf, type RankRow, type TermRank, termRank } from "../ranks.ts"
import { type Reader, readersQuery, readingBy } from "../readers.ts"
import { dueCodeOf, type KeywordUnderWay, underWayBy } from "../under-way.ts"
import { trackedLists } from "./tracked-lists.ts"

export const STATES = ["top10", "absent", "unmeasured"] as const
export const ORDERS = ["rank", "term", "popularity", "difficulty"] as const

export interface RankedPageQuery extends Side {
  /** Part of a term, in lower case; "" = any. */
  find: string
  /** Of these alone; null = of all. */
  terms: readonly string[] | null
  state: (typeof STATES)[number] | null
  order: (typeof ORDERS)[number]
  /** From 1. */
  page: number
  /** Rows of a page. */
  most: number
  /** So many of the best besides, wherever they stand in the order. */
  best: number
  today: string
  /** As if these were all, on this day. */
  within?: { terms: readonly string[]; day: string }
}

export interface RankedKeyword {
  rank: TermRank
  metrics: KeywordMetrics
  underWay: KeywordUnderWay
}

/** Of all keywords of an app in a storefront, on the day shown. */
export interface RankTotals {
  /** The latest on which any of them was measured; null = never. */
  day: string | null
  /** When the latest of the day's results was seen, ISO 8601. */
  measuredAt: string | null
  tracked: number
  measured: number
  top3: number
  top10: number
  top50: number
  /** Null = none has a rank. */
  best: number | null
}

export interface RankedPage {
  totals: RankTotals
  /** How many fit. */
  found: number
  /** The page's, or the last page's beyond it. */
  rows: RankedKeyword[]
  /** Of all, by rank; none that is absent. */
  best: RankedKeyword[]
}

/** A page of an app's keywords, and what all of them come to: the figures of those on other pages are not read. */
export async function readRankedPage(sql: Sql, app: RankedApp, query: RankedPageQuery): Promise<RankedPage> {
  const { platform, storefront, today } = query
  const own = ownId(app, query)
  const rows = own === null ? [] : await readRows(sql, app.id, { ...query, own })
  const [first] = rows
  if (!first) return { totals: NO_TOTALS, found: 0, rows: [], best: [] }
  const underWay = underWayBy({ platform, storefront }, readingBy(first.readers ?? []))
  const keywordOf = (row: KeywordRow): RankedKeyword => ({
    rank: termRank(row),
    metrics: row.listId === null ? UNMEASURED : metricsOf(row, platform, today),
    underWay: underWay(row.dueCode),
  })
  const best = rows.filter(({ bestPlace }) => bestPlace !== null).sort((a, b) => a.bestPlace! - b.bestPlace!)
  return {
    totals: first.totals!,
    found: first.found!,
    rows: rows.filter(({ isShown }) => isShown).map(keywordOf),
    best: best.map(keywordOf),
  }
}

const NO_TOTALS: RankTotals = {
  ...{ day: null, measuredAt: null, tracked: 0, measured: 0, top3: 0, top10: 0, top50: 0, best: null },
}

type KeywordRow = RankRow &
  MetricsRow & {
    totals: RankTotals | null
    found: number | null
    readers: Reader[] | null
    /** On the page asked for. */
    isShown: boolean | null
    bestPlace: number | null
    dueCode: number
  }

/** The first row has what all come to; it is no keyword where none is shown. */
async function readRows(
  sql: Sql,
  appId: string,
  { own, platform, storefront, find, terms, order, most, ...query }: RankedPageQuery & { own: number },
): Promise<KeywordRow[]> {
  const { page, best } = query
  const isPlain = order === "rank" && find === "" && terms === null && query.state === null
  return await sql<KeywordRow[]>`
    with ${standings(sql, { own, platform, storefront, appId, within: query.within })}, fit as (
      ${isPlain ? sql`select place, place as at from standing` : fitting(sql, { find, terms, order, ...query })}
    ), total as (
      select (select count(*) from fit)::int as found, json_build_object(
          'day', min(day), 'measuredAt', to_char(max(seen_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'tracked', count(*), 'measured', count(source), 'best', min(nullif(rank, 0)),
          'top3', count(*) filter (where rank between 1 and 3), 'top10', count(*) filter (where rank between 1 and 10),
          'top50', count(*) filter (where rank between 1 and 50)
        ) as totals
      from standing
      having count(*) > 0
    ), shown as (
      select s.*, f.at, f.at is not null as is_shown,
        row_number() over (order by f.at, s.place) as n
      from standing s
      left join (
        select f.place, f.at
        from fit f, total t
        where f.at > ${most} * least(${page - 1}::int, greatest(0, (t.found - 1) / ${most}))
          and f.at <= ${most} * (least(${page - 1}::int, greatest(0, (t.found - 1) / ${most})) + 1)
      ) f on f.place = s.place
      where f.at is not null or (s.place <= ${best} and s.rank > 0)
    )
    select case when coalesce(t.n, 1) = 1 then a.totals end as totals,
      case when coalesce(t.n, 1) = 1 then a.found end as found,
      case when coalesce(t.n, 1) = 1 then (select json_agg(r) from (${readersQuery(sql)}) r) end as readers,
      t.is_shown as "isShown", case when t.place <= ${best} and t.rank > 0 then t.place::int end as "bestPlace",
      t.term, t.day, t.list_id as "listId", t.source, t.depth, t.seen_at as "seenAt", t.rank, ${figures(sql)},
      coalesce(d.code, 0) as "dueCode"
    from total a
    left join shown t on true
    left join lateral (${figuresOf(sql, sql`true`)}) n on true
    left join lateral (
      ${dueCodeOf(sql, { platform, storefront }, sql`t.term`)}
    ) d on true
    order by t.n
    limit ${most + best + 1}`
}

/** Queries for a `with`: `term`, `last`, and `standing`, each keyword's answer of the day shown and its place by rank. */
function standings(
  sql: Sql,
  {
    own,
    platform,
    storefront,
    appId,
    within,
  }: Side & { own: number; appId: string; within: RankedPageQuery["within"] },
) {
  return sql`
term as materialized (
      ${trackedLists(sql, { appId, platform, storefront }, within?.terms)}
    ), last as materialized (
      ${within ? sql`select ${within.day}::date as day` : sql`select max(last_day) as day from term`}
    ), standing as materialized (
      select t.*, r.source, r.depth, r.seen_at, r.rank,
        row_number() over (order by r.source is null, nullif(r.rank, 0) nulls last, t.position, t.term) as place
      from (select term.*, day, ${own}::int as own_id from term, last) t
      left join lateral (${answerOf(sql, sql`true`)}) r on true
    )`
}

type Filter = Pick<RankedPageQuery, "find" | "terms" | "state" | "order" | "today">

/** Those that fit, with their places in the order asked. */
function fitting(sql: Sql, { find, terms, state, order, today }: Filter) {
  const isFigure = order === "popularity" || order === "difficulty"
  return sql`
    select t.place, row_number() over (order by ${ordering(sql, order, today)} t.place) as at
    from standing t
    ${isFigure ? sql`left join lateral (${figuresOf(sql, sql`true`)}) n on true` : sql``}
    where ${inState(sql, state)} and strpos(t.term, ${find}) > 0
      and (${terms as string[] | null}::text[] is null or t.term = any(${terms as string[] | null}::text[]))`
}

function inState(sql: Sql, state: Filter["state"]) {
  if (state === "top10") return sql`t.rank between 1 and 10`
  if (state === "absent") return sql`t.rank = 0`
  return state === "unmeasured" ? sql`t.source is null` : sql`true`
}

/** What comes before the place by rank; a figure that is not shown any more is none. */
function ordering(sql: Sql, order: Filter["order"], today: string) {
  const since = addDays(today, -SHOWN_DAYS)
  if (order === "term") return sql`t.term,`
  if (order === "popularity")
    return sql`coalesce(n.published, case when n.estimate_day >= ${since}::date then n.estimate end) desc nulls last,`
  if (order === "difficulty")
    return sql`case when n.difficulty_day >= ${since}::date then n.difficulty end desc nulls last,`
  return sql``
}
