import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { termsIn, termsTogether } from "../../keywords/read/columns.ts"
import { sideOf } from "../../keywords/read/day-answers.ts"
import { latestAnswer } from "../../keywords/read/latest-answer.ts"
import { trackedLists } from "../../keywords/read/tracked-lists.ts"
import { parseRival } from "../../lib/store-ids.ts"
import { nameIn } from "../../stores/store/app-names.ts"

interface ListingNames {
  name: string | null
  developer: string | null
}

interface Surroundings extends ListingNames {
  rivals: { name: string; developer: string | null }[]
  /** Tracked keywords of the storefront, in their order. At most 1,000. */
  tracked: string[]
}

/** Number of tracked keywords whose search results are searched for rivals. */
const LISTS = 100
/** Number of ranks per keyword that are searched for rivals. */
export const PLACES = 10

/**
 * Returns the app's names, its rivals and its tracked keywords. Rivals are the apps chosen by hand and the apps with
 * the best ranks, except apps of the same developer. Pass `day` if the day to show is already determined.
 */
export async function readSurroundings(
  sql: Sql,
  app: RankedApp & { name: string; manualRivals: string[] | null },
  { platform, storefront, day = null }: Side & { day?: string | null },
): Promise<Surroundings> {
  const side = sideOf(app, { platform, storefront })
  const [[appRow], rivals] = await Promise.all([
    sql<(ListingNames & { terms: string | null })[]>`
      select a.name, a.developer, (
        select ${termsTogether(sql, sql`term`)}
        from (
          select term
          from tracked_term
          where app_id = ${side.appId} and country = ${storefront}
          order by position, term
          limit 1000
        ) t
      ) as terms
      from (select 1) o
      left join lateral (
        select ${nameIn(sql, sql`a.id`, { storefront, countries: app.countries })} as name, a.developer
        from store_app a
        where a.id = ${side.storeAppId}
      ) a on true`,
    readRivals(sql, side, { ...app, day }),
  ])
  return {
    name: appRow?.name ?? app.name,
    developer: appRow?.developer ?? null,
    rivals,
    tracked: termsIn(appRow?.terms ?? null),
  }
}

type RivalsQuery = Pick<RankedApp, "countries"> & { manualRivals: string[] | null; day: string | null }

async function readRivals(sql: Sql, side: ReturnType<typeof sideOf>, { manualRivals, countries, day }: RivalsQuery) {
  const manual = (manualRivals ?? [])
    .map(parseRival)
    .flatMap((rival) => (rival?.platform === side.platform ? [rival.id] : []))
  const keyword = { platform: sql`${side.platform}`, storefront: sql`${side.storefront}`, term: sql`k.term` }
  return await sql<Surroundings["rivals"]>`
    with answer as (
      select n.app_ids
      from (
        select term
        from tracked_term
        where app_id = ${side.appId} and country = ${side.storefront}
        order by position, term
        limit ${LISTS}
      ) k
      cross join lateral (${latestAnswer(sql, sql`day, app_ids`, keyword)}) n
      where ${side.storeAppId}::int is not null
        and n.day = ${day ?? sql`(select max(last_day) from (${trackedLists(sql, side)}) k)`}
    ), rival as materialized (
      select distinct u.app_id
      from answer a
      cross join lateral unnest(a.app_ids[1:${PLACES}]) u (app_id)
      union
      select id
      from store_app
      where platform = ${side.platform} and store_id = any(${manual}::text[])
    )
    select n.name, s.developer
    from rival r
    join store_app s on s.id = r.app_id
    cross join lateral (
      select ${nameIn(sql, sql`s.id`, { storefront: side.storefront, countries })} as name
    ) n
    left join store_app o on o.id = ${side.storeAppId}
    where n.name is not null and s.id is distinct from o.id
      and (s.developer_id is null or s.developer_id is distinct from o.developer_id)
      and (s.developer is null or s.developer is distinct from o.developer)
    order by s.id
    limit 1000`
}
