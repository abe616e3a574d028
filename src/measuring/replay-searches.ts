import type { Sql } from "../database/types.ts"
import { type Platform, type SearchObservation, SOURCE_CODES, sourceOf } from "../observations/types.ts"
import type { Sources } from "../sources/all.ts"
import { parseBody } from "../sources/source.ts"
import { type Difference, differing, type Range, type ReadFrom } from "./replay-subjects.ts"

interface SearchRow {
  listId: number
  day: string
  code: number
  seenAt: Date
  /** To the microsecond. */
  seen: string
  depth: number
  complete: boolean
  parser: number
  origin: string
  egress: string | null
  sha256: Uint8Array
  platform: Platform
  storefront: string
  term: string
  ids: string[]
}

// Of 200 results each, some 10,000 ids are looked up.
const SEARCH_PAGE = 50

/** Readings of search results that these sources gave, page by page. */
export async function* storedSearches(
  sql: Sql,
  sources: Sources["search"],
  { since, source }: Range,
): AsyncGenerator<ReadFrom[]> {
  const asked = sources.filter(({ name }) => source === null || name === source)
  const codes = asked.map(({ name }) => SOURCE_CODES[name as keyof typeof SOURCE_CODES])
  if (codes.length === 0) return
  let after = { listId: 0, day: "0001-01-01", code: 0, seen: "-infinity" }
  for (;;) {
    const rows = await sql<SearchRow[]>`
      select r.list_id as "listId", r.day, r.source as code, r.seen_at as "seenAt", r.seen_at::text as seen, r.depth,
        r.complete, r.parser, r.origin, r.egress, r.sha256, l.platform, l.storefront, l.term, coalesce(a.ids, '{}') as ids
      from (
        select *
        from search_results
        where day >= ${since ?? "0001-01-01"} and source = any(${codes}::smallint[])
          and (list_id, day, source, seen_at)
            > (${after.listId}, ${after.day}::date, ${after.code}::smallint, ${after.seen}::text::timestamptz)
        order by list_id, day, source, seen_at
        limit ${SEARCH_PAGE}
      ) r
      join list l on l.id = r.list_id
      cross join lateral (
        select array_agg(s.store_id order by u.place) as ids
        from unnest(r.app_ids) with ordinality u (id, place)
        join store_app s on s.id = u.id
      ) a
      order by r.list_id, r.day, r.source, r.seen_at
      limit ${SEARCH_PAGE}`
    if (rows.length === 0) return
    yield rows.map((row) => searchOf(row, sources))
    after = rows.at(-1) as SearchRow
  }
}

function searchOf(row: SearchRow, sources: Sources["search"]): ReadFrom {
  const { code, platform, storefront, term, seenAt, sha256, parser, origin, egress } = row
  const source = sourceOf(code)
  return {
    source,
    platform,
    storefront,
    seenAt,
    sha256,
    parser,
    subjects: [term],
    read(body) {
      const read = parseBody(
        sources.find(({ name }) => name === source)!,
        { storefront, term },
        body,
        egress ?? undefined,
      )
      return { ...read, origin }
    },
    compare: (seen) => [searchDifference(row, seen as SearchObservation)],
  }
}

function searchDifference(row: SearchRow, { results, depth, complete }: SearchObservation): Difference | null {
  const ids = results.map(({ id }) => id)
  const places = differing(row.ids, ids)
  const details = [
    ...(places > 0 ? [`${places} of ${Math.max(ids.length, row.ids.length)} places`] : []),
    ...(depth !== row.depth ? [`depth ${depth}, was ${row.depth}`] : []),
    ...(complete !== row.complete ? [complete ? "complete now" : "broken off now"] : []),
  ]
  return details.length > 0 ? { places, detail: details.join(", ") } : null
}
