import type { Platform } from "../../../src/core/observation/provenance.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { Genre } from "../../../src/stores/kinds/genres.ts"

export interface DeveloperShelf {
  seenAt: Date
  source: string
  /** False if the answer had the maximum length, so that there may be more. */
  complete: boolean
  /** store_app ids in the order shown. */
  apps: number[]
}

/** Returns the apps of a developer in a storefront in the latest reading. Null if not measured. */
export async function developerShelfOf(
  sql: Sql,
  { platform, storefront, developerId }: { platform: Platform; storefront: string; developerId: string },
): Promise<DeveloperShelf | null> {
  const [row] = await sql<DeveloperShelf[]>`
    select seen_at as "seenAt", source, complete, app_ids as apps
    from developer_shelf
    where platform = ${platform} and storefront = ${storefront} and developer_id = ${developerId}
    order by seen_at desc, source
    limit 1`
  return row ?? null
}

export interface StoreGenres {
  /** The storefront of the names. */
  storefront: string
  /** True if the names are those of another storefront, because the storefront's own names were never read. */
  borrowed: boolean
  seenAt: Date
  /** Each after its parent. The first is the genre of all apps. */
  genres: Genre[]
}

/**
 * Returns a store's genres with their names in a storefront; if those were never read, with the US names, else with
 * those of the first storefront read. Null if no names were read.
 */
export async function genresOf(
  sql: Sql,
  { platform, storefront }: { platform: Platform; storefront: string },
): Promise<StoreGenres | null> {
  const rows = await sql<{ storefront: string; seenAt: Date; id: string; name: string; parent: string | null }[]>`
    select storefront, seen_at as "seenAt", genre as id, name, parent
    from genre
    where platform = ${platform}
      and storefront = coalesce(
        (select storefront from genre where platform = ${platform} and storefront = ${storefront} limit 1),
        (select storefront from genre where platform = ${platform} and storefront = 'us' limit 1),
        (select storefront from genre where platform = ${platform} order by storefront limit 1)
      )
    order by place
    limit 1000`
  const [first] = rows
  if (!first) return null
  const genres = rows.map(({ id, name, parent }) => ({ id, name, ...(parent !== null && { parent }) }))
  return { storefront: first.storefront, borrowed: first.storefront !== storefront, seenAt: first.seenAt, genres }
}
