import type { Sql } from "../database/types.ts"
import { parseRival } from "../formulas/store-ids.ts"
import { dayAnswers, sideOf } from "./day-answers.ts"
import type { Side } from "./ranks.ts"
import type { RankedApp } from "./types.ts"

interface Named {
  name: string | null
  developer: string | null
}

interface Surroundings extends Named {
  rivals: { name: string; developer: string | null }[]
  /** Tracked keywords of the storefront, in their order; at most 1,000. */
  tracked: string[]
}

/** So many tracked keywords' results are looked at, and so many places of each: who stands there is known as a rival. */
export const LISTS = 100
export const PLACES = 10

/**
 * What is known of an app in a storefront of a store that its listing is to be judged by. Rivals are those named by hand and
 * those in the first places of the tracked keywords on the latest measured day; apps of the app's own maker are none.
 */
export async function knownOf(
  sql: Sql,
  app: RankedApp & { name: string; manualRivals: string[] | null },
  { platform, storefront }: Side,
): Promise<Surroundings> {
  const side = sideOf(app, { platform, storefront })
  const [[own], rivals, tracked] = await Promise.all([
    sql<Named[]>`
      select coalesce(f.name, a.name) as name, a.developer
      from store_app a
      left join app_storefront f on (f.app_id, f.storefront) = (a.id, ${storefront}) and f.name is not null
      where a.id = ${side.own}
      order by f.seen_at desc nulls last, f.source
      limit 1`,
    readRivals(sql, side, app.manualRivals ?? []),
    sql<{ term: string }[]>`
      select term
      from tracked_term
      where app_id = ${side.appId} and country = ${storefront}
      order by position, term
      limit 1000`,
  ])
  return {
    name: own?.name ?? app.name,
    developer: own?.developer ?? null,
    rivals,
    tracked: tracked.map(({ term }) => term),
  }
}

async function readRivals(sql: Sql, side: ReturnType<typeof sideOf>, manualRivals: readonly string[]) {
  const manual = manualRivals.map(parseRival).flatMap((rival) => (rival?.platform === side.platform ? [rival.id] : []))
  return await sql<Surroundings["rivals"]>`
    with ${dayAnswers(sql, [side], { lists: LISTS })}, rival as materialized (
      select distinct u.app_id
      from answer a
      cross join lateral unnest(a.app_ids[1:${PLACES}]) u (app_id)
      union
      select id
      from store_app
      where platform = ${side.platform} and store_id = any(${manual}::text[])
    )
    select coalesce(f.name, s.name) as name, s.developer
    from rival r
    join store_app s on s.id = r.app_id
    left join store_app o on o.id = ${side.own}
    left join lateral (
      select name
      from app_storefront
      where app_id = s.id and storefront = ${side.storefront} and name is not null
      order by seen_at desc, source
      limit 1
    ) f on true
    where coalesce(f.name, s.name) is not null and s.id is distinct from o.id
      and (s.developer_id is null or s.developer_id is distinct from o.developer_id)
      and (s.developer is null or s.developer is distinct from o.developer)
    order by s.id
    limit 1000`
}
