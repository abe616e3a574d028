import type { AppKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { SHELVED_BY } from "../../listings/read/placements.ts"
import { nameIn } from "../../stores/store/app-names.ts"

/** If a row is missing on the App Store's page, there is none. Google Play's pages may come without their rows. */
const SECTIONS = { ios: ["similar", "page"], android: ["similar"] }

/** Returns the storefront whose row was read last, else one whose page has no row. Null if no page was read. */
export async function findShelfReadLast(sql: Sql, { platform, id }: AppKey): Promise<string | null> {
  const [row] = await sql<{ storefront: string }[]>`
    select r.storefront
    from store_app s
    join listing_run r
      on r.app_id = s.id and r.source = ${SHELVED_BY[platform]} and r.section = any(${SECTIONS[platform]}::text[])
    where (s.platform, s.store_id) = (${platform}, ${id})
    order by r.section desc, r.seen_at desc, r.storefront
    limit 1`
  return row?.storefront ?? null
}

/**
 * Returns the row's latest reading, with no apps if the page was read and never showed the row. Null if the page was
 * not read.
 */
export async function readShelf(sql: Sql, { platform, id }: AppKey, storefront: string) {
  const source = SHELVED_BY[platform]
  const rows = await sql<(Omit<ShelfRow, "place"> & { seenAt: Date; origin: string; place: number | null })[]>`
    select r.seen_at as "seenAt", r.origin, i.place::int as place, i.store_id as id, a.developer as publisher,
      a.developer_id as "publisherId",
      coalesce(${nameIn(sql, sql`a.id`, { storefront, countries: [] })}, i.store_id) as name
    from store_app s
    cross join lateral (
      select seen_at, origin, section, digest
      from listing_run
      where (app_id, storefront, source) = (s.id, ${storefront}, ${source})
        and section = any(${SECTIONS[platform]}::text[])
      order by section desc, first_seen_at desc
      limit 1
    ) r
    left join listing_content c
      on (c.app_id, c.storefront, c.source, c.section, c.digest) = (s.id, ${storefront}, ${source}, r.section, r.digest)
      and r.section = 'similar'
    left join lateral jsonb_array_elements_text(c.content) with ordinality i (store_id, place) on true
    left join store_app a on (a.platform, a.store_id) = (${platform}, i.store_id)
    where (s.platform, s.store_id) = (${platform}, ${id})
    order by i.place
    limit 1000`
  const [first] = rows
  if (!first) return null
  const { seenAt, origin } = first
  return {
    id,
    platform,
    country: storefront,
    day: dayOf(seenAt),
    measuredAt: seenAt.toISOString(),
    source,
    origin,
    apps: rows.filter(isPlaced).map(({ seenAt: _, origin: __, ...app }) => app),
  }
}

interface ShelfRow {
  place: number
  id: string
  name: string
  publisher: string | null
  publisherId: string | null
}

function isPlaced<Row extends { place: number | null }>(row: Row): row is Row & ShelfRow {
  return row.place !== null
}
