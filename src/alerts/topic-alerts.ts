import type { Tx } from "../database/types.ts"
import { isOffTopic, TOPIC } from "../formulas/alerts.ts"
import { termPairs } from "../observations/term-days.ts"
import { ALL_APPS, sourceOf } from "../observations/types.ts"
import type { Finding, Looked } from "./alert.ts"

/**
 * off_topic: none of a keyword's first ten results shares a category with the app, which was otherwise on the measured day
 * before or was not measured (see isOffTopic). Categories are those known now. A day before of which too little is known
 * says nothing; which source read it does not matter.
 */
export async function topicFindings(tx: Tx, looked: Looked): Promise<Finding[]> {
  const { genre } = looked.place
  if (genre === null) return []
  const found: Finding[] = []
  for (const first of looked.parts) {
    const days = await readDays(tx, looked, first, genre)
    found.push(...days.flatMap((day) => findingOf(day, genre, looked.place.categories)))
  }
  return found
}

/**
 * All categories known of a row of store_app, its main one first, which a chart may have told after the others; empty where
 * none is. The store's name for all of them together is none.
 */
export function categoriesOf(tx: Tx) {
  return tx`array_remove(array_remove(genre || coalesce(genres, '{}'), null), ${ALL_APPS}::text)`
}

interface Day {
  term: string
  day: string
  at: Date
  source: number
  /** Of the first results, each's. */
  categories: string[][]
  genreName: string | null
  wasDay: string | null
  categoriesWas: string[][] | null
}

/** No more than may be told. Lists of categories as JSON: lists of several lengths are no array of the database's. */
async function readDays(tx: Tx, { place, from, to }: Looked, first: string, genre: string): Promise<Day[]> {
  const { platform, storefront, categories } = place
  return await tx<Day[]>`
    with ${termPairs(tx, { ...place, from, to, first }, place.since)}, top as materialized (
      select term, day, seen_at, source, app_ids[1:${TOPIC.first}::int] as ids, was_day,
        was_ids[1:${TOPIC.first}::int] as was_ids
      from pair
      where rank > ${TOPIC.first} or rank is null
    ), off as materialized (
      select t.*
      from top t
      cross join lateral (
        select count(*) as known, count(*) filter (where g.categories && ${categories}::text[]) as alike
        from ${categoriesIn(tx, tx`t.ids`)}
        where cardinality(g.categories) > 0
      ) k
      where k.known >= ${TOPIC.known} and k.alike = 0
    ), turned as materialized (
      select *
      from off o
      where o.was_day is null or exists (
        select
        from ${categoriesIn(tx, tx`o.was_ids`)}
        where g.categories && ${categories}::text[]
      )
    )
    select t.term, t.day, t.seen_at as at, t.source, n.name as "genreName", t.was_day as "wasDay",
      (select json_agg(g.categories order by u.place) from ${categoriesIn(tx, tx`t.ids`)}) as categories,
      case when t.was_day is not null then
        (select coalesce(json_agg(g.categories order by u.place), '[]') from ${categoriesIn(tx, tx`t.was_ids`)})
      end as "categoriesWas"
    from turned t
    left join genre n on (n.platform, n.storefront, n.genre) = (${platform}, ${storefront}, ${genre})
    order by t.term, t.day
    limit 10000`
}

/** Looked up for each: joined, as many apps as there are were read. */
function categoriesIn(tx: Tx, ids: ReturnType<Tx>) {
  return tx`
    unnest(${ids}) with ordinality u (id, place)
    cross join lateral (
      select ${categoriesOf(tx)} as categories
      from store_app
      where id = u.id
      offset 0
    ) g`
}

function findingOf(one: Day, genre: string, own: readonly string[]): Finding[] {
  const { term, day, at, categories, genreName, wasDay: against, categoriesWas } = one
  const wasOtherwise = categoriesWas === null || isOffTopic(own, categoriesWas) === false
  if (isOffTopic(own, categories) !== true || !wasOtherwise) return []
  const genres = categories.map(([main = null]) => main)
  const facts = { term, genre, genreName, genres, source: sourceOf(one.source), against }
  return [{ type: "off_topic", subject: term, day, at, facts }]
}
