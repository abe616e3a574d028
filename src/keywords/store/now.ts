import type { Sql, Tx } from "../../database/types.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { lockLists } from "../../measuring/record/identities.ts"
import { SHOWN_DAYS } from "./keyword-figures.ts"
import { popularityOrderOf } from "./popularity-order.ts"

/**
 * Writes the results of each list's last day to list_now, and returns how many rows changed. Call it once that day is
 * known (list.last_day). The caller must hold the locks of the lists. Idempotent.
 */
export async function deriveListNow(tx: Tx, lists: readonly number[]): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    with answer as materialized (
      select l.id as list_id, l.platform, l.storefront, l.term, r.*, k.popularity, k.popular_until
      from list l
      cross join lateral (
        select day, source, depth, seen_at, app_ids, origin
        from search_results
        where list_id = l.id and day = l.last_day and complete
        order by ${bestFirst(tx)}
        limit 1
      ) r
      left join lateral (
        select ${popularity(tx)}
        from keyword_now
        where list_id = l.id
        offset 0
      ) k on true
      where l.id = any(${lists as number[]}::int[])
    ), written as (
      insert into list_now as held (
        list_id, day, seen_at, source, depth, popularity, popular_until, platform, storefront, origin, term, app_ids
      )
      select list_id, day, seen_at, source, depth, popularity, popular_until, platform, storefront, origin, term,
        app_ids
      from answer
      order by list_id
      on conflict (list_id) do update
      set day = excluded.day, seen_at = excluded.seen_at, source = excluded.source, depth = excluded.depth,
        popularity = excluded.popularity, popular_until = excluded.popular_until, platform = excluded.platform,
        storefront = excluded.storefront, origin = excluded.origin, term = excluded.term, app_ids = excluded.app_ids
      where held is distinct from excluded
      returning list_id
    ), gone as (
      delete from list_now
      where list_id = any(${lists as number[]}::int[]) and list_id not in (select list_id from answer)
      returning list_id
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row.count
}

/**
 * Returns columns for a row of keyword_now: the value that orders the keyword, and the last day on which it is valid
 * (null if always).
 */
function popularity(tx: Tx) {
  const order = popularityOrderOf(tx, { published: tx`published`, estimate: tx`estimate`, platform: tx`l.platform` })
  return tx`
    ${order}::smallint as popularity,
    case when published is null and estimate is not null then estimate_day + ${SHOWN_DAYS}::int end as popular_until`
}

/**
 * Writes the latest figures of each list to keyword_now and their popularity to list_now, and returns how many rows
 * changed. Call it after figures were stored. The caller must hold the locks of the lists. Idempotent.
 */
export async function deriveKeywordNow(tx: Tx, lists: readonly number[]): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    with figure as materialized (
      select l.id as list_id, demand.score as demand, demand.day as demand_day, demand.seen_at as demand_at,
        hints.score as hints, hints.day as hints_day, hints.seen_at as hints_at, difficulty.score as difficulty,
        difficulty.day as difficulty_day, difficulty.seen_at as difficulty_at, estimate.score as estimate,
        estimate.day as estimate_day, estimate.seen_at as estimate_at, published.score as published,
        published.day as published_day, published.seen_at as published_at, published.source as published_by
      from (select distinct id from unnest(${lists as number[]}::int[]) id) l
      left join lateral (${latest(tx, tx`metric = 'demand' and formula > 0`)}) demand on true
      left join lateral (${latest(tx, tx`metric = 'hints' and formula > 0`)}) hints on true
      left join lateral (${latest(tx, tx`metric = 'difficulty' and formula > 0`)}) difficulty on true
      left join lateral (${latest(tx, tx`metric = 'popularity' and formula > 0`)}) estimate on true
      left join lateral (${latest(tx, tx`metric = 'popularity' and formula = 0`)}) published on true
      where coalesce(demand.day, hints.day, difficulty.day, estimate.day, published.day) is not null
    ), written as (
      insert into keyword_now as held
      select *
      from figure
      order by list_id
      on conflict (list_id) do update
      set (
          demand, demand_day, demand_at, hints, hints_day, hints_at, difficulty, difficulty_day, difficulty_at,
          estimate, estimate_day, estimate_at, published, published_day, published_at, published_by
        ) = (
          excluded.demand, excluded.demand_day, excluded.demand_at, excluded.hints, excluded.hints_day,
          excluded.hints_at, excluded.difficulty, excluded.difficulty_day, excluded.difficulty_at, excluded.estimate,
          excluded.estimate_day,
          excluded.estimate_at, excluded.published, excluded.published_day, excluded.published_at, excluded.published_by
        )
      where held is distinct from excluded
      returning list_id, published, estimate, estimate_day
    ), gone as (
      delete from keyword_now
      where list_id = any(${lists as number[]}::int[]) and list_id not in (select list_id from figure)
      returning list_id
    ), ordered as (
      update list_now n
      set popularity = o.popularity, popular_until = o.popular_until
      from (
        select list_id, ${popularity(tx)}
        from written
        join list l on l.id = list_id
        union all
        select list_id, null, null
        from gone
      ) o
      where n.list_id = o.list_id and (n.popularity, n.popular_until) is distinct from (o.popularity, o.popular_until)
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row.count
}

function latest(tx: Tx, where: ReturnType<Tx>) {
  return tx`
    select score, day, seen_at, source
    from keyword_metric
    where list_id = l.id and ${where}
    order by day desc, seen_at desc, source
    limit 1`
}

/**
 * Rebuilds list_now and keyword_now of all lists and returns how many rows of each were wrong. Pauses between two
 * batches.
 */
export async function rebuildNow(sql: Sql, pause: () => Promise<void>) {
  const mended = { ranks: 0, figures: 0 }
  for (let after = 0; ; ) {
    const rows = await sql<{ id: number }[]>`
      select id
      from list
      where id > ${after}
      order by id
      limit ${AT_ONCE}`
    const lists = rows.map(({ id }) => id)
    if (lists.length === 0) return mended
    const some = await sql.begin(async (tx) => {
      await lockLists(tx, lists)
      // figures first, because list_now contains some of them
      const figures = await deriveKeywordNow(tx, lists)
      return { figures, ranks: await deriveListNow(tx, lists) }
    })
    mended.figures += some.figures
    mended.ranks += some.ranks
    after = lists.at(-1) as number
    await pause()
  }
}

const AT_ONCE = 100
