import * as v from "valibot"
import type { Db, Tx } from "../../database/types.ts"
import { termPairs } from "../../history/term-days.ts"
import { ALL_APPS, sourceOf } from "../../observations/types.ts"
import { inStore } from "../../vocabulary/storefront-names.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { type PlaceDays, readParts } from "../place.ts"
import { quoted } from "../wording.ts"

/** `off_topic`: so many of the first ten results must have categories that are known. */
const TOPIC = { first: 10, known: 8 }

/** Main categories or others, by the store's ids; null = too few are known. None of an app = not known. */
export function isOffTopic(own: readonly string[], results: readonly (readonly string[])[]): boolean | null {
  const known = results.slice(0, TOPIC.first).filter(({ length }) => length > 0)
  if (own.length === 0 || known.length < TOPIC.known) return null
  return !known.some((categories) => categories.some((one) => own.includes(one)))
}

/**
 * Not so on the measured day before, or not measured then. Categories are those known now; too few known on the day
 * before says nothing.
 */
export const offTopic = alertType({
  name: "off_topic",
  options: ["keywordScope"],
  facts: v.strictObject({
    term: v.string(),
    /** The app's main one, by the store's id and its name there; null until one was seen. */
    genre: v.string(),
    genreName: v.nullable(v.string()),
    /** The main ones of the first results in their order; null = not known. */
    genres: v.array(v.nullable(v.string())),
    source: v.string(),
    /** The measured day before it, when one of them had; null = there was none. */
    against: v.nullable(v.string()),
  }),
  example: {
    ...{ term: "tea", genre: "6015", genreName: "Finance", genres: ["6014", null, ...Array(8).fill("6014")] },
    ...{ source: "apple-web-search", against: "2025-11-19" },
  },
  async find(tx, days) {
    const { genre, categories } = days.place
    if (genre === null) return []
    const read = await readParts(days, (terms) => readDays(tx, days, terms, genre))
    return read.filter((day) => isTurned(day, categories)).map((day) => findingOf(day, genre))
  },
  sentence({ term, genre, genreName }, place) {
    const own = genreName ?? `genre ${genre}`
    const was = place.earlier === null ? "" : ` (on ${place.earlier} one did)`
    return `None of the first ten results for ${quoted(term)} ${inStore(place)} shares your category, ${own}${was}`
  },
  fields: ({ term, genre, against, source }) => ({ term, genre, against, source }),
})

/** The main one first; empty where none is known. The store's name for all of them together is none. */
export function categoriesOf(tx: Db) {
  return tx`array_remove(array_remove(genre || coalesce(genres, '{}'), null), ${ALL_APPS}::text)`
}

interface Day {
  term: string
  day: string
  at: Date
  source: number
  categories: string[][]
  genreName: string | null
  wasDay: string | null
  categoriesWas: string[][] | null
}

/** No more than may be told. Lists of categories as JSON: lists of several lengths are no array of the database's. */
async function readDays(
  tx: Tx,
  { place, from, to }: PlaceDays,
  terms: readonly string[],
  genre: string,
): Promise<Day[]> {
  const { platform, storefront, categories } = place
  return await tx<Day[]>`
    with ${termPairs(tx, { ...place, from, to, terms })}, top as materialized (
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

function isTurned({ categories, categoriesWas }: Day, own: readonly string[]): boolean {
  const wasOtherwise = categoriesWas === null || isOffTopic(own, categoriesWas) === false
  return wasOtherwise && isOffTopic(own, categories) === true
}

function findingOf({ term, day, at, source, categories, genreName, wasDay: against }: Day, genre: string): FindingOf {
  const genres = categories.map(([main = null]) => main)
  const facts = { term, genre, genreName, genres, source: sourceOf(source), against }
  return { type: "off_topic", subject: term, day, at, facts }
}
