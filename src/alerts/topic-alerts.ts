import type { Tx } from "../database/types.ts"
import { isOffTopic, TOPIC } from "../formulas/alerts.ts"
import { termPairs } from "../observations/term-days.ts"
import { sourceOf } from "../observations/types.ts"
import type { Finding, Looked } from "./alert.ts"

/**
 * off_topic: none of a keyword's first ten results has the app's genre, which was otherwise on the measured day before or
 * was not measured (see isOffTopic). Genres are those known now. A day before of which too little is known says nothing;
 * which source read it does not matter.
 */
export async function topicFindings(tx: Tx, looked: Looked): Promise<Finding[]> {
  const { genre } = looked.place
  if (genre === null) return []
  const found: Finding[] = []
  for (const first of looked.parts) {
    const days = await readDays(tx, looked, first, genre)
    found.push(...days.flatMap((day) => findingOf(day, genre)))
  }
  return found
}

interface Day {
  term: string
  day: string
  at: Date
  source: number
  genres: (string | null)[]
  genreName: string | null
  wasDay: string | null
  genresWas: (string | null)[] | null
}

/** No more than may be told. Lists of genres as JSON: the driver reads a null within an array as text. */
async function readDays(tx: Tx, { place, from, to }: Looked, first: string, genre: string): Promise<Day[]> {
  const { platform, storefront } = place
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
        select count(*) as known, count(*) filter (where g.genre = ${genre}) as alike
        from ${genresIn(tx, tx`t.ids`)}
        where g.genre is not null
      ) k
      where k.known >= ${TOPIC.known} and k.alike = 0
    ), turned as materialized (
      select *
      from off o
      where o.was_day is null or exists (
        select
        from ${genresIn(tx, tx`o.was_ids`)}
        where g.genre = ${genre}
      )
    )
    select t.term, t.day, t.seen_at as at, t.source, n.name as "genreName", t.was_day as "wasDay",
      (select json_agg(g.genre order by u.place) from ${genresIn(tx, tx`t.ids`)}) as genres,
      case when t.was_day is not null then
        (select coalesce(json_agg(g.genre order by u.place), '[]') from ${genresIn(tx, tx`t.was_ids`)})
      end as "genresWas"
    from turned t
    left join genre n on (n.platform, n.storefront, n.genre) = (${platform}, ${storefront}, ${genre})
    order by t.term, t.day
    limit 10000`
}

/** Looked up for each: joined, as many apps as there are were read. */
function genresIn(tx: Tx, ids: ReturnType<Tx>) {
  return tx`
    unnest(${ids}) with ordinality u (id, place)
    cross join lateral (
      select genre
      from store_app
      where id = u.id
      offset 0
    ) g`
}

function findingOf(one: Day, genre: string): Finding[] {
  const { term, day, at, genres, genreName, wasDay: against, genresWas } = one
  const wasOtherwise = genresWas === null || isOffTopic(genre, genresWas) === false
  if (isOffTopic(genre, genres) !== true || !wasOtherwise) return []
  const facts = { term, genre, genreName, genres, source: sourceOf(one.source), against }
  return [{ type: "off_topic", subject: term, day, at, facts }]
}
