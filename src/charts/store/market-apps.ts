import type { StorefrontApp } from "../../core/observation/provenance.ts"
import { takeLocks, takeSharedLock } from "../../database/locks.ts"
import type { Sql, Tx } from "../../database/types.ts"

/**
 * Writes the best places of these apps to market_app, and returns how many rows changed. Call it after their places or
 * first days in a storefront changed. The caller must hold the locks of the storefronts (lockCharts). Idempotent.
 */
export async function deriveMarketApps(tx: Tx, apps: readonly StorefrontApp[]): Promise<number> {
  if (apps.length === 0) return 0
  const [row] = await tx<[{ count: number }]>`
    with asked as materialized (
      select distinct u.app_id, u.storefront
      from unnest(${apps.map(({ app }) => app)}::int[], ${apps.map(({ storefront }) => storefront)}::text[])
        u (app_id, storefront)
    ), answer as materialized (
      select a.app_id, a.storefront, s.store_id::bigint as store_id,
        case when not f.baseline then f.day end as first_day, p.rank, p.free, p.paid, p.grossing, p.ipad, ${figures(tx)}
      from asked a
      cross join lateral (
        select min(p.rank) as rank, min(p.rank) filter (where c.device = 'iphone' and c.chart = 'free') as free,
          min(p.rank) filter (where c.device = 'iphone' and c.chart = 'paid') as paid,
          min(p.rank) filter (where c.device = 'iphone' and c.chart = 'grossing') as grossing,
          min(p.rank) filter (where c.device = 'ipad' and c.chart = 'free') as ipad
        from (
          select chart_id, rank
          from chart_place
          where app_id = a.app_id
          offset 0
        ) p
        join chart c on c.id = p.chart_id
        where (c.platform, c.storefront) = ('ios', a.storefront)
      ) p
      join store_app s on s.id = a.app_id
      left join app_first_seen f on (f.app_id, f.storefront) = (a.app_id, a.storefront)
      left join app_estimate e on e.app_id = a.app_id
      where p.rank is not null
    ), written as (
      insert into market_app as held (
        app_id, storefront, store_id, first_day, rank, free, paid, grossing, ipad, downloads, downloads_under, revenue,
        revenue_under, growth, genre, by_prior, revenue_by
      )
      select *
      from answer
      order by app_id, storefront
      on conflict (app_id, storefront) do update
      set first_day = excluded.first_day, rank = excluded.rank, free = excluded.free, paid = excluded.paid,
        grossing = excluded.grossing, ipad = excluded.ipad, downloads = excluded.downloads,
        downloads_under = excluded.downloads_under, revenue = excluded.revenue, revenue_under = excluded.revenue_under,
        growth = excluded.growth, genre = excluded.genre, by_prior = excluded.by_prior, revenue_by = excluded.revenue_by
      where held is distinct from excluded
      returning 1
    ), gone as (
      delete from market_app held
      using asked a
      where (held.app_id, held.storefront) = (a.app_id, a.storefront) and not exists (
        select
        from answer
        where (answer.app_id, answer.storefront) = (a.app_id, a.storefront)
      )
      returning 1
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row.count
}

/** Writes the estimates of these apps to market_app. The caller must hold the lock of the estimates. */
export async function deriveMarketFigures(tx: Tx, apps: readonly number[]): Promise<void> {
  await tx`
    update market_app held
    set (downloads, downloads_under, revenue, revenue_under, growth, genre, by_prior, revenue_by) = (
      select ${figures(tx)}
      from (select) one
      left join app_estimate e on e.app_id = held.app_id
    )
    where app_id = any(${apps as number[]}::int[])`
}

/** Returns the columns of market_app that come from a row `e` of app_estimate. */
function figures(tx: Tx) {
  return tx`
    e.downloads, e.downloads_under, e.revenue, e.revenue_under, e.growth, e.genre,
    e.basis is not distinct from 'prior' as by_prior, e.revenue_by`
}

/** Rebuilds market_app of all storefronts and returns how many rows were wrong. Pauses between two batches. */
export async function rebuildMarketApps(sql: Sql, pause: () => Promise<void>): Promise<number> {
  const storefronts = await sql<{ storefront: string }[]>`
    select storefront
    from chart
    where platform = 'ios'
    union
    select storefront
    from market_app
    order by storefront
    limit 200`
  let mended = 0
  for (const { storefront } of storefronts)
    for (let after = 0; ; ) {
      const apps = await sql.begin(async (tx) => {
        await takeLocks(tx, "new apps", [[storefront]])
        await takeSharedLock(tx, "estimates")
        const batch = await readBatch(tx, storefront, after)
        mended += await deriveMarketApps(tx, batch)
        return batch
      })
      const last = apps.at(-1)
      if (!last) break
      after = last.app
      await pause()
    }
  return mended
}

async function readBatch(tx: Tx, storefront: string, after: number): Promise<StorefrontApp[]> {
  return await tx<StorefrontApp[]>`
    select app, ${storefront}::text as storefront
    from (
      select p.app_id as app
      from chart c
      join chart_place p on p.chart_id = c.id
      where (c.platform, c.storefront) = ('ios', ${storefront})
      union
      select app_id
      from market_app
      where storefront = ${storefront}
    ) a
    where app > ${after}
    order by app
    limit ${BATCH}`
}

const BATCH = 1_000
