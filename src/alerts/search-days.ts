import type { Db, Tx } from "../database/types.ts"
import { TERMS_AT_ONCE, termPairs } from "../keywords/read/term-days.ts"
import { ALL_APPS } from "../lib/charts.ts"
import type { Place } from "./place.ts"
import type { FollowedRival } from "./rival-facts.ts"

/** The days to derive for a place. Each is compared with the previous measured day. */
export interface PlaceDays {
  place: Place
  /** Tracked keywords. */
  terms: readonly string[]
  rivals: readonly FollowedRival[]
  /** Genres of the charts: the app's current genre, and those of earlier alerts. */
  genres: readonly string[]
  /** Keys (keyOf) of alerts that stay as long as the readings confirm them. */
  standing: ReadonlySet<string>
  from: string
  to: string
  /** Reads the search results of these days, once for all alert types. */
  searches(): Promise<SearchDays>
}

/**
 * The smallest change for `rank_drop` and `rank_rise`, in ranks. A rule's threshold limits delivery only, not the feed.
 */
export const RANK_PLACES = 3

/**
 * The better of the two apps must be within these ranks; the limit differs for rivals named by hand and found rivals.
 * Lower ranks change at random every day.
 */
export const RIVAL_PLACES = { manual: 50, found: 10 }

/** For `off_topic`, the first 10 results are read and at least 8 of them need known categories. */
export const TOPIC = { first: 10, known: 8 }

/** A measured day and the previous measured day. */
export interface DayStep {
  day: string
  source: number
  depth: number
  wasDay: string
  wasSource: number
  wasDepth: number
}

/** A change of the app's rank since the previous measured day that is large enough for an alert. */
export interface Move extends DayStep {
  term: string
  at: string
  rank: number | null
  wasRank: number | null
}

/** A rival (store_app id) that passed the app, or was passed, since the previous measured day. */
export interface PassingRow extends DayStep {
  id: number
  term: string
  at: string
  ours: number | null
  theirs: number | null
  oursWas: number | null
  theirsWas: number | null
}

/** A day whose first results share no category with the app, after a measured day that differed or no measured day. */
export interface TurnedDay {
  term: string
  day: string
  at: string
  source: number
  categories: string[][]
  genreName: string | null
  wasDay: string | null
  categoriesWas: string[][] | null
}

/** The search results of a place's days that may cause alerts. Times are ISO 8601. */
export interface SearchDays {
  moves: Move[]
  passings: PassingRow[]
  turned: TurnedDay[]
}

/** Reads the results of all keywords and days once, for all alert types. */
export async function readSearchDays(tx: Tx, days: Omit<PlaceDays, "searches">): Promise<SearchDays> {
  const read: SearchDays = { moves: [], passings: [], turned: [] }
  for (let at = 0; at < days.terms.length; at += TERMS_AT_ONCE) {
    const { moves, passings, turned } = await readPart(tx, days, days.terms.slice(at, at + TERMS_AT_ONCE))
    read.moves.push(...(moves ?? []))
    read.passings.push(...(passings ?? []))
    read.turned.push(...(turned ?? []))
  }
  return read
}

type Part = { [Rows in keyof SearchDays]: SearchDays[Rows] | null }

async function readPart(
  tx: Tx,
  { place, rivals, from, to }: Omit<PlaceDays, "searches">,
  terms: readonly string[],
): Promise<Part> {
  const [part] = await tx<[Part]>`
    with ${termPairs(tx, { ...place, from, to, terms })}, ${moveQueries(tx)}, ${passingQueries(tx, rivals)},
      ${topicQueries(tx, place)}
    select
      (select json_agg(m order by m.term, m.day) from move m) as moves,
      (select json_agg(p order by p.term, p.day, p.id) from passing p) as passings,
      (select json_agg(t order by t.term, t.day) from topic t) as turned`
  return part
}

function moveQueries(tx: Tx) {
  return tx`
    move as (
      select term, day, seen_at as at, source, depth, rank, was_day as "wasDay", was_source as "wasSource",
        was_depth as "wasDepth", was_rank as "wasRank"
      from pair
      where source = was_source
        and (abs(rank - was_rank) >= ${RANK_PLACES} or (rank is null) <> (was_rank is null))
      order by term, day
      limit 10000
    )`
}

/** Compares only the ranks that can matter: 14 ms for 250 keywords, compared with 65 ms for whole lists. */
function passingQueries(tx: Tx, rivals: PlaceDays["rivals"]) {
  return tx`
    met as materialized (
      select *, app_ids[1:least(${RIVAL_PLACES.manual}::int, coalesce(rank - 1, 250))] as above,
        was_ids[1:coalesce(was_rank - 1, 250)] as was_above
      from pair
      where source = was_source and ${rivals.length > 0}
    ), crossed as (
      select m.*, r.id
      from met m
      cross join unnest(${rivals.map(({ id }) => id)}::int[]) r (id)
      where case
          when array_position(m.above, r.id) is not null
            then m.was_rank is not null and array_position(m.was_above, r.id) is null
          else m.rank <= ${RIVAL_PLACES.manual}::int and array_position(m.was_above, r.id) is not null
        end
    ), passing as (
      select id, term, day, seen_at as at, source, depth, rank as ours, array_position(app_ids, id) as theirs,
        was_day as "wasDay", was_source as "wasSource", was_depth as "wasDepth", was_rank as "oursWas",
        array_position(was_ids, id) as "theirsWas"
      from crossed
      order by term, day, id
      limit 20000
    )`
}

/**
 * Reads only candidates for an alert. Categories are JSON, since PostgreSQL has no arrays of arrays with different
 * lengths.
 */
function topicQueries(tx: Tx, { platform, storefront, categories, genre }: PlaceDays["place"]) {
  return tx`
    top as materialized (
      select term, day, seen_at, source, app_ids[1:${TOPIC.first}::int] as ids, was_day,
        was_ids[1:${TOPIC.first}::int] as was_ids
      from pair
      where (rank > ${TOPIC.first} or rank is null) and ${genre !== null}
    ), off as materialized (
      select t.*
      from top t
      cross join lateral (
        select count(*) as known, count(*) filter (where g.categories && ${categories}::text[]) as alike
        from ${categoriesIn(tx, tx`t.ids`)}
        where cardinality(g.categories) > 0
      ) k
      where k.known >= ${TOPIC.known} and k.alike = 0
    ), topic as (
      select o.term, o.day, o.seen_at as at, o.source, n.name as "genreName", o.was_day as "wasDay",
        (select json_agg(g.categories order by u.place) from ${categoriesIn(tx, tx`o.ids`)}) as categories,
        case when o.was_day is not null then
          (select coalesce(json_agg(g.categories order by u.place), '[]') from ${categoriesIn(tx, tx`o.was_ids`)})
        end as "categoriesWas"
      from off o
      left join genre n on (n.platform, n.storefront, n.genre) = (${platform}, ${storefront}, ${genre})
      where o.was_day is null or exists (
        select
        from ${categoriesIn(tx, tx`o.was_ids`)}
        where g.categories && ${categories}::text[]
      )
      order by o.term, o.day
      limit 10000
    )`
}

/** Returns an app's categories, the main one first; empty if unknown. Leaves out the store's id for "all apps". */
export function categoriesOf(tx: Db) {
  return tx`array_remove(array_remove(genre || coalesce(genres, '{}'), null), ${ALL_APPS}::text)`
}

/** Returns a lateral that looks up each app. With a join the planner reads all apps. */
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
