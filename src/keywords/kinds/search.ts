import * as v from "valibot"
import { kind, type StoredRange } from "../../core/kind.ts"
import { checkTerm } from "../../core/observation/invariants.ts"
import { Flag, RankSource as RankSourceName, Whole } from "../../core/observation/line-parts.ts"
import { LineProblem } from "../../core/observation/line-problem.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf, monthOf } from "../../lib/days.ts"
import { SOURCE_CODES, sourceOf } from "../../lib/rank-sources.ts"
import { RANK_SOURCES, type RankSource } from "../../lib/upstreams.ts"
import { pagesOf } from "../../measuring/record/best-rows.ts"
import { differenceOf } from "../../measuring/record/differences.ts"
import { deriveMonths } from "../../tracking/rank-months.ts"
import { deriveListNow } from "../store/now.ts"
import { isOwnSearch } from "../store/own-searches.ts"
import { storeSearches } from "../store/searches.ts"
import { idsIn, type SearchObservation, type SearchQuestion, shape } from "./search-shape.ts"

/**
 * A store's search results for a term. All readings are stored, but of several readings with the same time and source
 * only the best one.
 */
export const search = kind<SearchObservation, SearchQuestion>({
  name: "search",
  sources: RANK_SOURCES,
  private: false,
  figures: ({ term }) => ({ kind: "term", subject: term }),
  demo: true,
  monthly: true,
  shape,
  // Without `depth`, the depth of a line is its number of results.
  line: {
    entries: { source: RankSourceName, depth: v.optional(Whole), complete: v.optional(Flag, true) },
    read({ depth, ...rest }: SearchObservation) {
      const read = depth ?? rest.results.length
      if (read === 0) throw new LineProblem("depth: must be given when results is empty")
      return { ...rest, depth: read }
    },
  },
  question: { about: ({ term }) => term, checkSubject: (subject) => checkTerm(subject) },
  names: (seen) => ({ list: seen, apps: idsIn(seen.results) }),
  weight: ({ results }) => results.length,
  async store(tx, readings, ids) {
    const lists = await storeSearches(tx, readings, ids)
    return { placed: lists.map(({ from }) => from), shown: lists, named: readings.map((from) => namedIn(from, ids)) }
  },
  async derive(tx, { placed }, { listOf }) {
    await deriveMonths(
      tx,
      placed.map((from) => ({ listId: listOf(from), month: monthOf(dayOf(from.seenAt)) })),
    )
    await deriveListNow(tx, placed.map(listOf))
  },
  stored: readSearches,
  replay: {
    whileKept: true,
    subjects: ({ term }) => [term],
    toQuestion: ({ storefront }, term) => ({ storefront, term }),
    compare: (previous, now) => [
      differenceOf("places", idsIn(previous.results), idsIn(now.results), [
        now.depth !== previous.depth && `depth ${now.depth}, was ${previous.depth}`,
        now.complete !== previous.complete && (now.complete ? "complete now" : "incomplete now"),
      ]),
    ],
    isStored: (sql) => sql`
      select
      from list l
      join search_results r on r.list_id = l.id and r.day = (a.at at time zone 'utc')::date
      where (l.platform, l.storefront, l.term) = (a.platform, a.storefront, a.subject)
        and r.seen_at = a.at and r.sha256 = a.sha256`,
  },
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(seen_at) as "seenAt"
    from list l
    join search_results r on r.list_id = l.id and r.day >= (${since}::timestamptz at time zone 'utc')::date
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${subject})
      and complete and ${isOwnSearch(sql)} and seen_at >= ${since}`,
  example: {
    source: "import",
    platform: "ios",
    storefront: "us",
    term: "photo editor",
    seenAt: "2025-10-25T03:25:01.530Z",
    results: [{ id: "897446215", name: "Canva" }, { id: "1617391485" }],
  },
})

/**
 * Used for all readings, including those that are already stored or superseded: the stored names must not depend on the
 * order of recording.
 */
function namedIn(from: SearchObservation, { appOf }: SurrogateIds) {
  return { from, apps: from.results, appIds: idsIn(from.results).map((id) => appOf(from.platform, id)) }
}

// Readings per page. With 200 results each, a page looks up some 10,000 ids.
const PAGE = 50

type StoredSearchRow = Omit<SearchObservation, "source" | "results" | "egress"> & {
  egress: string | null
  ids: string[]
  listId: number
  day: string
  code: number
  /** `seenAt` as text, with microseconds. */
  seen: string
}

/** Yields stored readings in pages. Only the apps of the results and their order are stored. */
async function* readSearches(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<SearchObservation[]> {
  const codes = sources.map((source) => SOURCE_CODES[source as RankSource])
  const pages = pagesOf(
    (after: StoredSearchRow | null) => sql<StoredSearchRow[]>`
      select r.list_id as "listId", r.day, r.source as code, r.seen_at::text as seen, 'search' as kind, l.platform,
        l.storefront, l.term, r.depth, r.complete, coalesce(a.ids, '{}') as ids, r.seen_at as "seenAt", r.parser,
        r.origin, r.egress, r.sha256
      from (
        select *
        from search_results
        where day >= ${since ?? "0001-01-01"} and source = any(${codes}::smallint[])
          and (list_id, day, source, seen_at) > (
            ${after?.listId ?? 0}, ${after?.day ?? "0001-01-01"}::date, ${after?.code ?? 0}::smallint,
            ${after?.seen ?? "-infinity"}::text::timestamptz
          )
        order by list_id, day, source, seen_at
        limit ${PAGE}
      ) r
      join list l on l.id = r.list_id
      cross join lateral (
        select array_agg(s.store_id order by u.place) as ids
        from unnest(r.app_ids) with ordinality u (id, place)
        join store_app s on s.id = u.id
      ) a
      order by r.list_id, r.day, r.source, r.seen_at`,
  )
  for await (const rows of pages) yield rows.map(readingOf)
}

function readingOf({
  listId: _listId,
  day: _day,
  seen: _seen,
  code,
  ids,
  egress,
  ...row
}: StoredSearchRow): SearchObservation {
  return { ...row, source: sourceOf(code), results: ids.map((id) => ({ id })), ...(egress !== null && { egress }) }
}
