import type { Sql } from "../database/types.ts"
import type { DeveloperAppsObservation, Platform } from "../observations/types.ts"
import type { Sources } from "../sources/all.ts"
import { parseBody } from "../sources/source.ts"
import { differing, type Range, type ReadFrom, startOf } from "./replay-subjects.ts"

interface Held {
  platform: Platform
  storefront: string
  seenAt: Date
  parser: number
  origin: string
  sha256: Uint8Array
}

type ShelfRow = Held & {
  source: DeveloperAppsObservation["source"]
  developerId: string
  complete: boolean
  ids: string[]
}

const PAGE = 50

/** What developers sold as these sources told it last, page by page. */
export async function* storedShelves(
  sql: Sql,
  sources: Sources["developers"],
  { since, source }: Range,
): AsyncGenerator<ReadFrom[]> {
  const names = sources.map(({ name }) => name).filter((name) => source === null || name === source)
  let after = { platform: "", storefront: "", developerId: "", source: "" }
  while (names.length > 0) {
    const rows = await sql<ShelfRow[]>`
      select d.platform, d.storefront, d.developer_id as "developerId", d.source, d.seen_at as "seenAt", d.complete,
        d.parser, d.origin, d.sha256, coalesce(a.ids, '{}') as ids
      from developer_shelf d
      cross join lateral (
        select array_agg(s.store_id order by u.place) as ids
        from unnest(d.app_ids) with ordinality u (id, place)
        join store_app s on s.id = u.id
      ) a
      where d.seen_at >= ${startOf(since)}::text::timestamptz and d.source = any(${names}::text[])
        and (d.platform, d.storefront, d.developer_id, d.source)
          > (${after.platform}, ${after.storefront}, ${after.developerId}, ${after.source})
      order by d.platform, d.storefront, d.developer_id, d.source
      limit ${PAGE}`
    if (rows.length === 0) return
    yield rows.map((row) => shelfOf(row, sources))
    after = rows.at(-1) as ShelfRow
  }
}

function shelfOf({ ids, complete, developerId, ...row }: ShelfRow, sources: Sources["developers"]): ReadFrom {
  const { source, storefront, origin } = row
  return {
    ...row,
    subjects: [developerId],
    read(body) {
      const of = sources.find(({ name }) => name === source)!
      return { ...parseBody(of, { storefront, developerId }, body, undefined), origin }
    },
    compare(seen) {
      const now = seen as DeveloperAppsObservation
      const apps = now.apps.map(({ id }) => id)
      const places = differing(ids, apps)
      const details = [
        ...(places > 0 ? [`${places} of ${Math.max(ids.length, apps.length)} apps`] : []),
        ...(complete !== now.complete ? [now.complete ? "complete now" : "as long as it can be now"] : []),
      ]
      return [details.length > 0 ? { places, detail: details.join(", ") } : null]
    },
  }
}
