import type { Sql } from "../../../src/database/types.ts"

export async function fillEstimates(sql: Sql): Promise<void> {
  await sql`
    insert into app_estimate (app_id, version, made_at, formula, day, markets, days, basis, pairs, coverage, downloads,
      downloads_low, downloads_high, revenue_under, revenue_markets)
    select id, 1, now(), 1, '2025-08-31', 1, 7, 'prior', 0, null, 0.1 + 0.2, 1e-300, 1e300, 400000, 1
    from store_app
    order by id
    limit 1`
  await sql`
    insert into estimate_due (app_id, next_at, made_at, wanted_until)
    select id, null, '2025-08-31 01:02:03.456789Z', null
    from store_app
    order by id
    limit 1
    on conflict (app_id) do update set made_at = excluded.made_at`
  await sql`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high, truth)
    select '2025-08-01', id, 1, 7, array['us', 'gb'], 0.1 + 0.2, 1e-300, 1e300, 0
    from store_app
    order by id
    limit 1`
  await sql`
    insert into estimate_month (month, graded_to, graded_at, score)
    values ('2025-08-01', 7, '2025-09-04 01:02:03.456789Z', '{"n": 20}'), ('2025-09-01', 3, null, null)`
}
