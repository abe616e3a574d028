import type { RatingsByStar } from "../../core/observation/line-parts.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { FactSource, SourceName } from "../../lib/upstreams.ts"
import { LOOKUP_SOURCES } from "../../stores/kinds/apps-shape.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"

/**
 * Stored facts of any app in a storefront: those of a look-up and the latest ratings, each with its time and source.
 */
export interface AppFacts {
  app: number
  name: string | null
  publisher: string | null
  publisherId: string | null
  looked: {
    available: boolean
    version: string | null
    price: number | null
    currency: string | null
    genre: string | null
    releasedAt: string | null
    updatedAt: string | null
    measuredAt: string
    source: FactSource
    origin: string
  } | null
  /** Facts of the build, which is the same in all storefronts: from the latest look-up in any of them. */
  built: {
    languages: string[] | null
    sizeBytes: number | null
    builtAt: string
    builtSource: FactSource
    builtOrigin: string
  } | null
  counts: {
    ratings: number
    rating: number | null
    ratingsAt: string
    ratingsSource: SourceName
    ratingsOrigin: string
  } | null
  /** Number of ratings per star, from five stars to one. */
  byStar: {
    stars: RatingsByStar
    distributionAt: string
    distributionSource: SourceName
    distributionOrigin: string
  } | null
}

/** Returns the stored facts of an app. Null if it was never seen. */
export async function readAppFacts(
  sql: Sql,
  { platform, id }: { platform: Platform; id: string },
  storefront: string,
): Promise<AppFacts | null> {
  const [row] = await sql<AppFacts[]>`
    select s.id as app, ${nameIn(sql, sql`s.id`, { storefront, countries: [] })} as name, s.developer as publisher,
      s.developer_id as "publisherId", l.said as looked, u.said as built, c.said as counts, b.said as "byStar"
    from store_app s
    left join lateral (
      select json_build_object(
          'available', available, 'version', version, 'price', price, 'currency', currency, 'genre', genre,
          'releasedAt', released_at, 'updatedAt', updated_at, 'measuredAt', seen_at, 'source', source,
          'origin', origin
        ) as said
      from app_storefront
      where (app_id, storefront) = (s.id, ${storefront}) and source = any(${[...LOOKUP_SOURCES]}::text[])
      order by seen_at desc, source
      limit 1
    ) l on true
    left join lateral (
      select json_build_object(
          'languages', languages, 'sizeBytes', size_bytes, 'builtAt', seen_at, 'builtSource', source,
          'builtOrigin', origin
        ) as said
      from app_storefront
      where app_id = s.id and (languages is not null or size_bytes is not null)
      order by seen_at desc, source, storefront
      limit 1
    ) u on true
    left join lateral (
      select json_build_object(
          'ratings', ratings, 'rating', rating::numeric, 'ratingsAt', seen_at, 'ratingsSource', source,
          'ratingsOrigin', origin
        ) as said
      from rating_count
      where (app_id, storefront) = (s.id, ${storefront}) and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    left join lateral (
      select json_build_object(
          'stars', stars, 'distributionAt', seen_at, 'distributionSource', source, 'distributionOrigin', origin
        ) as said
      from rating_count
      where (app_id, storefront) = (s.id, ${storefront}) and stars is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) b on true
    where (s.platform, s.store_id) = (${platform}, ${id})`
  return row ?? null
}

export async function readStorefronts(
  sql: Sql,
  { platform, id }: { platform: Platform; id: string },
): Promise<string[]> {
  const rows = await sql<{ storefront: string }[]>`
    select distinct f.storefront
    from store_app s
    join app_storefront f on f.app_id = s.id
    where (s.platform, s.store_id) = (${platform}, ${id}) and f.available
      and f.source = any(${[...LOOKUP_SOURCES]}::text[])
    order by f.storefront
    limit 200`
  return rows.map(({ storefront }) => storefront)
}
