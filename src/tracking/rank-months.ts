import type { Tx } from "../database/types.ts"
import { bestFirst } from "../measuring/record/best-first.ts"

export interface ListMonth {
  listId: number
  month: string
}

/**
 * Derives rank_month and list_month for the apps that track these lists. The caller must hold the locks of the lists
 * (lockLists). Idempotent.
 */
export async function deriveMonths(tx: Tx, touched: readonly ListMonth[]): Promise<void> {
  for (let at = 0; at < touched.length; at += CHUNK) await derive(tx, touched.slice(at, at + CHUNK))
}

/** Returns the months with complete readings, or with derived rows, of the lists or of `apps` (store_app ids). */
export async function readMonths(tx: Tx, lists: readonly number[], apps: readonly number[] = []): Promise<ListMonth[]> {
  return await tx<ListMonth[]>`
    select id as "listId", month::date
    from list
    cross join generate_series(date_trunc('month', first_day), last_day, interval '1 month') month
    where id = any(${lists as number[]}::int[])
    union
    select list_id, month
    from list_month
    where list_id = any(${lists as number[]}::int[])
    union
    select list_id, month
    from rank_month
    where app_id = any(${apps as number[]}::int[]) and list_id = any(${lists as number[]}::int[])
    order by 1, 2`
}

// 200 list-months of depth 200 take the embedded database 48 ms, 50 take 11 ms. Other statements run in between.
const CHUNK = 100

async function derive(tx: Tx, touched: readonly ListMonth[]): Promise<void> {
  await tx`
    with ${days(tx, touched)}, measured as (
      insert into list_month as held (list_id, month, sources, depths)
      select list_id, month,
        string_agg(set_byte('\\x00', 0, coalesce(source, 255)), '' order by place),
        string_agg(set_byte('\\x00', 0, coalesce(depth, 0)), '' order by place)
      from grid
      group by list_id, month
      on conflict (list_id, month) do update
      set sources = excluded.sources, depths = excluded.depths
      where (held.sources, held.depths) <> (excluded.sources, excluded.depths)
    ), ranked as (
      insert into rank_month as held (app_id, list_id, month, ranks)
      select p.app_id, p.list_id, p.month,
        string_agg(
          set_byte(
            '\\x00', 0,
            case when g.source is null then 255 else coalesce(array_position(g.app_ids, p.app_id), 0) end
          ),
          '' order by g.place
        )
      from pair p
      join grid g on (g.list_id, g.month) = (p.list_id, p.month)
      group by p.app_id, p.list_id, p.month
      on conflict (app_id, list_id, month) do update
      set ranks = excluded.ranks
      where held.ranks <> excluded.ranks
    ), unranked as (
      delete from rank_month held
      using pair p
      where (held.app_id, held.list_id, held.month) = (p.app_id, p.list_id, p.month)
        and not exists (select from answer a where (a.list_id, a.month) = (p.list_id, p.month))
    )
    delete from list_month held
    using (select distinct list_id, month from pair) p
    where (held.list_id, held.month) = (p.list_id, p.month)
      and not exists (select from answer a where (a.list_id, a.month) = (p.list_id, p.month))`
}

/**
 * Returns queries: `pair`, the apps that track each list; `answer`, each measured day's reading; `grid`, a row for each
 * of 31 days.
 */
function days(tx: Tx, touched: readonly ListMonth[]) {
  return tx`
    touched as (
      select distinct t.list_id, t.month
      from unnest(${touched.map(({ listId }) => listId)}::int[], ${touched.map(({ month }) => month)}::date[])
        t (list_id, month)
    ), pair as materialized (
      select distinct t.list_id, t.month, case l.platform when 'ios' then a.ios_app else a.android_app end as app_id
      from touched t
      join list l on l.id = t.list_id
      join tracked_term k on k.country = l.storefront and k.term = l.term
      join tracked_app a on a.id = k.app_id
      where case l.platform when 'ios' then a.ios_app else a.android_app end is not null
    ), answer as materialized (
      select t.list_id, t.month, r.day - t.month as place, r.source, r.depth, r.app_ids
      from (select distinct list_id, month from pair) t
      cross join lateral (
        select distinct on (day) day, source, depth, app_ids
        from search_results
        where list_id = t.list_id and day >= t.month and day < (t.month + interval '1 month')::date and complete
        order by day, ${bestFirst(tx)}
      ) r
    ), grid as materialized (
      select m.list_id, m.month, d.place, a.source, a.depth, a.app_ids
      from (select distinct list_id, month from answer) m
      cross join generate_series(0, 30) d (place)
      left join answer a on (a.list_id, a.month, a.place) = (m.list_id, m.month, d.place)
    )`
}
