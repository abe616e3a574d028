import * as v from "valibot"
import { operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { findRivals, LISTS, PLACES } from "../../keywords/operations/found-rivals.ts"
import { gradeOf, type SearchText, toSearchText } from "../../lib/matching.ts"
import { appRecordId, keywordRecordId } from "../../lib/record-ids.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { searchPage } from "../../lib/store-pages.ts"
import { appAddress, folded, patternsOf, platformOf, type RecordMatch } from "../../tracking/records.ts"
import { Count } from "../../tracking/shapes.ts"

const MAX_MATCHES = 50

const Query = coded(
  v.pipe(
    v.string(),
    v.minLength(1),
    // JSON Schema counts code points, valibot's maxLength counts UTF-16 units
    v.metadata({ maxLength: 120 }),
    v.check((text) => {
      const length = [...text.trim()].length
      return length >= 1 && length <= 120
    }),
    v.description("Words, a store id, or a link to a store page. Case is ignored."),
  ),
  "bad_query",
)

const Result = named(
  "SearchResult",
  v.strictObject({
    id: described(v.string(), "Id for fetch."),
    title: described(v.string(), "Name of the app or rival (its store id if unknown), or the keyword."),
    url: described(v.pipe(v.string(), v.url()), "Store page of the app, or the store's search for the keyword."),
    kind: described(v.picklist(["app", "keyword", "rival"]), "Type of the result."),
  }),
)

export const search = operation({
  id: "search",
  method: "GET",
  path: "/search",
  group: "Account",
  toolset: "account",
  summary: "Finds apps, tracked keywords and rivals of the workspace.",
  description:
    "Matches apps and rivals by name or store id, and keywords by text. Every word must occur. Order: exact " +
    "matches, texts that begin with the query, texts in which every word of the query begins a word; at most " +
    `${MAX_MATCHES}. Rivals are those added by hand and the apps above yours in the latest results. A search ` +
    `reads at most the first ${LISTS} keywords and ${PLACES.toLocaleString("en")} results, so with many keywords ` +
    "it reads only the first results of each.",
  effect: "reads",
  scope: "apps:read",
  price: 1,
  faults: [],
  connector: { names: { query: "q" } },
  input: v.strictObject({ q: Query }),
  output: v.strictObject({
    query: described(v.string(), "The query as received."),
    results: described(v.array(Result), "Best match first; among equals apps, then keywords, then rivals."),
    omitted: described(Count, `Matches beyond the first ${MAX_MATCHES}, among the best 200 keywords and 200 rivals.`),
  }),
}).run(async ({ q }, { sql, visibleApps }) => {
  const searchText = toSearchText(q)
  const apps = await visibleApps()
  const [keywords, rivals] = await Promise.all([findKeywords(sql, apps, searchText), findRivals(sql, apps, searchText)])
  const found = [...findApps(apps, searchText), ...keywords, ...rivals]
  // the sort is stable: equal grades keep the order of their kind
  const best = found.sort((a, b) => a.grade - b.grade).slice(0, MAX_MATCHES)
  return { query: q, results: best.map(({ grade: _, ...result }) => result), omitted: found.length - best.length }
})

function findApps(apps: readonly TrackedApp[], query: SearchText): RecordMatch[] {
  return apps.flatMap((app) => {
    const ids = [app.iosId, app.androidPkg, app.bundleId].filter((id) => id !== null)
    const grade = gradeOf(query, ids, [app.name])
    return grade === null ? [] : [{ grade, ...foundApp(app) }]
  })
}

function foundApp(app: TrackedApp) {
  return { id: appRecordId(app.id), title: app.name, url: appAddress(app), kind: "app" as const }
}

/**
 * Returns the matching keywords, ordered by app, storefront and position. If many match, the database returns only the
 * best 200, so that a short text does not load all of them.
 */
async function findKeywords(sql: Sql, apps: readonly TrackedApp[], query: SearchText): Promise<RecordMatch[]> {
  if (query.storeId !== null) return []
  const places = apps.flatMap((app) => app.countries.map((country) => ({ app, country })))
  const rows = await sql<{ place: number; term: string }[]>`
    select place, term
    from (
      select p.place, k.term, k.position, ${folded(sql, sql`k.term`, query)} as folded
      from unnest(
        ${places.map(({ app }) => app.id)}::text[],
        ${places.map(({ country }) => country)}::text[]
      ) with ordinality p (app_id, country, place)
      join tracked_term k on (k.app_id, k.country) = (p.app_id, p.country)
      offset 0
    ) k
    where folded like all(${patternsOf(query)}::text[])
    order by folded <> ${query.text}, strpos(folded, ${query.text}) <> 1,
      strpos(' ' || folded, ${` ${query.text}`}) = 0, place, position, term
    limit 200`
  return rows
    .map(({ place, term }) => ({ ...(places[place - 1] as (typeof places)[number]), place, term }))
    .flatMap(({ app, country, term }) => {
      const grade = gradeOf(query, [], [term])
      return grade === null ? [] : [{ grade, ...foundKeyword(app, country, term) }]
    })
}

function foundKeyword(app: TrackedApp, country: string, term: string) {
  return {
    id: keywordRecordId(app.id, country, term),
    title: term,
    url: searchPage(platformOf(app), term, country),
    kind: "keyword" as const,
  }
}
