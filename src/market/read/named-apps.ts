import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"

/** An app as shown in search by name. */
export interface NamedApp {
  /** store_app id. */
  app: number
  id: string
  platform: Platform
  /** Null if unknown. */
  name: string | null
  publisher: string | null
  publisherId: string | null
  ratings: number | null
  ratingsAt: Date | null
  /** The source from which the app's name and publisher were last read. */
  source: SourceName | null
  origin: string | null
  seenAt: Date | null
}

/**
 * Returns apps (store_app ids) with their names in a storefront. Orders them by place, then by number of ratings there
 * (unknown last), then by store id.
 */
export async function readNamedApps(
  sql: Sql,
  apps: readonly { app: number; place: number }[],
  { storefront, limit }: { storefront: string; limit: number },
): Promise<NamedApp[]> {
  if (apps.length === 0) return []
  return await sql<NamedApp[]>`
    with ordered as materialized (
      select s.id, c.ratings, c.seen_at, row_number() over (
          order by f.place, c.ratings desc nulls last, s.store_id collate "C", s.platform
        ) as place
      from unnest(${apps.map(({ app }) => app)}::int[], ${apps.map(({ place }) => place)}::int[]) f (app, place)
      join store_app s on s.id = f.app
      left join lateral (
        select ratings, seen_at
        from rating_count
        where (app_id, storefront) = (s.id, ${storefront}) and ratings is not null
        order by day desc, ${preferredRating(sql)}
        limit 1
      ) c on true
      order by place
      limit ${limit}
    )
    select s.id as app, s.store_id as id, s.platform, ${nameIn(sql, sql`s.id`, { storefront, countries: [] })} as name,
      s.developer as publisher, s.developer_id as "publisherId", o.ratings::float8 as ratings, o.seen_at as "ratingsAt",
      s.source, s.origin, s.seen_at as "seenAt"
    from ordered o
    join store_app s on s.id = o.id
    order by o.place
    limit ${limit}`
}

/** The result of the App Store's own search for a text, from the latest query. */
export interface NameSearch {
  /** store_app ids, not in the store's order. */
  apps: number[]
  seenAt: Date
}

/** Returns the latest result of a text. Null if the store was not queried. */
export async function readNameSearch(sql: Sql, term: string, storefront: string): Promise<NameSearch | null> {
  const [row] = await sql<NameSearch[]>`
    select app_ids as apps, seen_at as "seenAt"
    from name_search
    where (platform, storefront, text) = ('ios', ${storefront}, ${term})
    order by seen_at desc, source
    limit 1`
  return row ?? null
}
