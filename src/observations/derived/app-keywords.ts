import type { Sql, Tx } from "../../database/types.ts"
import { addDays } from "../../vocabulary/days.ts"
import type { Platform } from "../provenance.ts"
import { sourceOf } from "../rank-sources.ts"
import { lockLists } from "../rows/identities.ts"
import {
  figures,
  type KeywordMetrics,
  type MetricsRow,
  metricsOf,
  SHOWN_DAYS,
  shownFigures,
} from "./keyword-figures.ts"
import { FORM, PART } from "./keyword-lines.ts"

/** The fields of a keyword's JSON that follow the first. */
function figuresText(metrics: KeywordMetrics): string {
  return fieldsOf(shownFigures(metrics))
}

function fieldsOf(fields: object): string {
  return `${JSON.stringify(fields).slice(1, -1)},`
}

interface PairRow extends MetricsRow {
  appId: number
  platform: Platform
  term: string
  listId: number
  lastDay: string | null
  source: number | null
  depth: number | null
  seenAt: Date | null
  rank: number
}

/**
 * Sets what answers say of these lists for every app that is tracked for them (app_keyword), after what stands now of them was
 * set. Needs the lists' lock. Idempotent.
 */
export async function deriveAppKeywords(tx: Tx, lists: readonly number[]): Promise<number> {
  const ids = [...new Set(lists)].toSorted((a, b) => a - b)
  let count = 0
  for (let from = 0; from < ids.length; from += AT_ONCE) count += await derive(tx, ids.slice(from, from + AT_ONCE))
  return count
}

/** Lists that one statement looks at: with one app each some 5 ms on the embedded database. */
const AT_ONCE = 100

async function derive(tx: Tx, lists: readonly number[]): Promise<number> {
  const pairs = await readPairs(tx, lists)
  const [row] = await tx<{ count: number }[]>`
    with pair as materialized (
      select p.list_id, p.app_id, l.storefront, l.term, p.shown
      from unnest(
        ${pairs.map(({ listId }) => listId)}::int[], ${pairs.map(({ appId }) => appId)}::int[],
        ${pairs.map(lineOf)}::text[]
      ) p (list_id, app_id, shown)
      join list l on l.id = p.list_id
    ), written as (
      insert into app_keyword as held (list_id, app_id, storefront, term, form, shown)
      select list_id, app_id, storefront, term, ${FORM}, shown
      from pair
      order by list_id, app_id
      on conflict (list_id, app_id) do update
      set form = excluded.form, shown = excluded.shown
      where (held.form, held.shown) <> (excluded.form, excluded.shown)
      returning 1
    ), gone as (
      delete from app_keyword
      where list_id = any(${lists as number[]}::int[]) and (list_id, app_id) not in (select list_id, app_id from pair)
      returning 1
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row!.count
}

async function readPairs(tx: Tx, lists: readonly number[]): Promise<PairRow[]> {
  return await tx<PairRow[]>`
    select p.app_id as "appId", l.platform, l.term, l.id as "listId", l.last_day as "lastDay", r.source, r.depth,
      r.seen_at as "seenAt", coalesce(array_position(r.app_ids, p.app_id), 0) as rank, ${figures(tx)}
    from unnest(${lists as number[]}::int[]) i (id)
    join list l on l.id = i.id
    cross join lateral (
      select distinct case l.platform when 'ios' then a.ios_app else a.android_app end as app_id
      from tracked_term k
      join tracked_app a on a.id = k.app_id
      where k.country = l.storefront and k.term = l.term
    ) p
    left join list_now r on r.list_id = l.id and r.day = l.last_day
    left join keyword_now n on n.list_id = l.id
    where p.app_id is not null
    order by l.id, p.app_id`
}

function lineOf(row: PairRow): string {
  const { term, rank, source, depth, seenAt, lastDay } = row
  const measuredAt = seenAt?.toISOString() ?? null
  const none = { measured: false, rank: null, measuredAt: null, source: null }
  const measured = source === null ? none : { measured: true, rank: rank || null, measuredAt, source: sourceOf(source) }
  // as on the day on which the oldest of them is shown for the last time
  const oldest = [row.demandDay, row.hintsDay, row.difficultyDay, row.published === null ? row.estimateDay : null]
    .filter((day) => day !== null)
    .sort()[0]
  const until = oldest === undefined ? null : addDays(oldest, SHOWN_DAYS)
  const figures = figuresText(metricsOf(row, row.platform, until ?? "9999-12-31"))
  const texts = [fieldsOf({ term, ...measured }), fieldsOf({ term, ...none }), figures]
  return [term, row.listId, lastDay, measuredAt, depth, until, ...texts].map((part) => part ?? "").join(PART)
}

/** Of all lists, where a text is missing or of another form; pauses between two pieces. */
export async function fillAppKeywords(
  sql: Sql,
  pause: () => Promise<void>,
  isStopped: () => boolean = () => false,
): Promise<number> {
  let count = 0
  for (let after = 0; !isStopped(); ) {
    const rows = await sql<{ id: number }[]>`
      select id
      from list
      where id > ${after}
      order by id
      limit ${AT_ONCE}`
    const lists = rows.map(({ id }) => id)
    if (lists.length === 0) return count
    count += await sql.begin(async (tx) => {
      await lockLists(tx, lists)
      return await deriveAppKeywords(tx, lists)
    })
    after = lists.at(-1) as number
    await pause()
  }
  return count
}
