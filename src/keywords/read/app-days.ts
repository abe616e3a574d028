import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { nameIn } from "../../stores/store/app-names.ts"

interface AppDaysQuery extends Side, Days {
  /** The requested keywords. Those that the tracked app does not track in the storefront are left out. */
  terms: readonly string[]
  /** The app whose ranks are read, by its id in the store. */
  storeId: string
}

interface AppDays {
  /** Null if no reading has shown a name of the app. */
  name: string | null
  keywords: { term: string; points: { day: string; rank: number | null; source: RankSource }[] }[]
}

/** Returns the ranks of any app of a store for keywords that `app` tracks, from the stored results of each day. */
export async function readAppDays(sql: Sql, app: RankedApp, query: AppDaysQuery): Promise<AppDays> {
  const { platform, storefront, terms, storeId, from, to } = query
  const place = { storefront, countries: app.countries }
  const [found] = await sql<{ id: number; name: string | null }[]>`
    select id, ${nameIn(sql, sql`store_app.id`, place)} as name
    from store_app
    where (platform, store_id) = (${platform}, ${storeId})`
  const keywords: AppDays["keywords"] = []
  // one statement per keyword, because a year of results takes the embedded database some milliseconds
  for (const term of found ? terms : []) {
    const rows = await sql<{ day: string; rank: number | null; source: number }[]>`
      select r.day, r.source, array_position(r.app_ids, ${found!.id}::int) as rank
      from tracked_term t
      join list l on (l.platform, l.storefront, l.term) = (${platform}, t.country, t.term)
      cross join lateral (
        select distinct on (day) day, source, app_ids
        from search_results
        where list_id = l.id and day between ${from} and ${to} and complete
        order by day, ${bestFirst(sql)}
      ) r
      where t.app_id = ${app.id} and t.country = ${storefront} and t.term = ${term}
      order by r.day
      limit 400`
    keywords.push({ term, points: rows.map(({ source, ...point }) => ({ ...point, source: sourceOf(source) })) })
  }
  return { name: found?.name ?? null, keywords }
}
