import type { Sql } from "../../src/database/types.ts"
import { rebuildNow } from "../../src/keywords/store/now.ts"
import { dayOf } from "../../src/lib/days.ts"
import { nameAll } from "../measuring/record/measured.ts"

/** Number of apps that a storefront's results are drawn from. */
const WORLD = 20_000
const DEPTH = 200

/** Tracks an app with `keywords` keywords, all measured today with `DEPTH` results each and with their figures. */
export async function trackLarge(sql: Sql, workspaceId: number, keywords: number): Promise<string> {
  const today = dayOf(new Date())
  const id = `large${workspaceId}`
  await sql`select open_month(${today}::date)`
  await sql`
    insert into store_app (platform, store_id, seen_at, source, origin)
    select 'ios', (500000000 + i)::text, now(), 'import', 'own'
    from generate_series(1, ${WORLD}::int) i
    on conflict do nothing`
  await nameAll(sql, sql`'App ' || (store_id::int - 500000000)`)
  await sql`
    insert into tracked_app (id, workspace_id, ios_app, countries)
    select ${id}, ${workspaceId}, id, '{us}'
    from store_app
    where store_id = '500009999'`
  for (let from = 1; from <= keywords; from += 1_000)
    await fill(sql, id, { from, to: Math.min(keywords, from + 999), today })
  await rebuildNow(sql, async () => {})
  await sql`
    analyze list, search_results, keyword_metric, list_now, keyword_now, tracked_term, store_app, store_app_name`
  return id
}

async function fill(sql: Sql, id: string, { from, to, today }: { from: number; to: number; today: string }) {
  await sql`
    with listed as (
      insert into list (platform, storefront, term, first_day, last_day)
      select 'ios', 'us', 'word ' || md5(i::text), ${today}, ${today}
      from generate_series(${from}::int, ${to}::int) i
      on conflict (platform, storefront, term) do update
      set last_day = excluded.last_day
      returning id, term
    ), shown as (
      insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
      select l.id, ${today}, 10, now(), ${DEPTH}, true, 1, 'own', sha256('x'), r.ids
      from listed l
      cross join lateral (
        select array_agg(distinct 1 + floor(${WORLD}::int * power(random(), 1.5))::int) as ids
        from generate_series(1, ${DEPTH}::int)
        where l.id > 0
      ) r
      on conflict do nothing
    ), known as (
      insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
      select l.id, m.metric, ${today}, 'calculated', now(), 40, 1, '{}'
      from listed l
      cross join (values ('demand'), ('hints'), ('difficulty')) m (metric)
      on conflict do nothing
    )
    insert into tracked_term (app_id, country, term, position)
    select ${id}, 'us', term, id
    from listed`
}
