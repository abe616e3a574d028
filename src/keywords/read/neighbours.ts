import type { Sql } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { NEAR_PLACES, placeWeight } from "../formulas/related-terms.ts"
import { popularityOrderOf } from "../store/popularity-order.ts"
import { latestAnswer } from "./latest-answer.ts"
import type { MarketLists } from "./market-lists.ts"

/** The latest search results of a keyword with their first apps. */
export interface TermAnswer {
  term: string
  listId: number
  day: string
  source: RankSource
  origin: string
  depth: number
  seenAt: Date
  /** How many apps the whole results contain. */
  results: number
  /** store_app ids of the first apps, in their order. */
  first: number[]
}

/**
 * Returns the latest search results of each keyword, with their first `apps` apps. Keywords without results are left
 * out.
 */
export async function readTermAnswers(
  sql: Sql,
  { platform, storefront, since }: MarketLists,
  terms: readonly string[],
  apps: number,
): Promise<Map<string, TermAnswer>> {
  const keyword = { platform: sql`${platform}`, storefront: sql`${storefront}`, term: sql`k.term` }
  const rows = await sql<(Omit<TermAnswer, "source"> & { source: number })[]>`
    select k.term, n.list_id as "listId", n.day, n.source, n.origin, n.depth, n.seen_at as "seenAt",
      cardinality(n.app_ids) as results, n.app_ids[1:${apps}::int] as first
    from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
    cross join lateral (
      ${latestAnswer(sql, sql`list_id, day, source, origin, depth, seen_at, app_ids`, keyword)}
    ) n
    where n.day >= ${since}::date
    order by k.place
    limit ${terms.length}`
  return new Map(rows.map(({ source, ...row }) => [row.term, { ...row, source: sourceOf(source) }]))
}

interface Neighbour {
  term: string
  /** How many of the given apps are among its first places. */
  shared: number
  /** 0 to 1: the shared apps divided by the geometric mean of both numbers of places. */
  relatedness: number
  /** The neighbours are ordered by this, the closest first. */
  closeness: number
}

interface NeighbourQuery {
  /** The list that the apps are from, which is not a neighbour of itself. */
  listId: number
  /** store_app ids in the order of the results, at most NEAR_PLACES. */
  apps: readonly number[]
  /** The minimum relatedness. */
  least: number
  limit: number
}

/**
 * Returns keywords whose latest results begin with some of these apps, the closest first. An app counts more the fewer
 * keywords have it and the higher it ranks in both: 1 / ln(keywords that have it), as Adamic and Adar weigh what two
 * people have in common ("Friends and neighbors on the web", 2003), times the placeWeight of both places. The closeness
 * is the sum of these divided by the norm of the other's places, as in a cosine; the norm of the given apps is the same
 * for all.
 *
 * test/bench/research-formulas.ts compares this with the plain count, with 1 / keywords ("resource allocation": Zhou,
 * Lü and Zhang, 2009) and with ln(all keywords / keywords), each with and without places. The second is as good there,
 * where no app ranks for more than 28 keywords, but gives an app of 1,000 keywords a thousandth of the weight.
 */
export async function findNeighbours(
  sql: Sql,
  { platform, storefront, since }: MarketLists,
  { listId, apps, least, limit }: NeighbourQuery,
): Promise<Neighbour[]> {
  return await sql<Neighbour[]>`
    with sharing as materialized (
      select n.term, n.places, count(*)::int as shared,
        sum(a.weight * (${WEIGHTS}::float8[])[n.place] / n.commonness) as weight
      from unnest(${apps as number[]}::int[], ${WEIGHTS.slice(0, apps.length)}::float8[]) a (app, weight)
      cross join lateral (
        select term, places, place, ln(1 + count(*) over ()::float8) as commonness
        from (
          select term, least(cardinality(app_ids), ${NEAR_PLACES}::int) as places,
            array_position(app_ids[1:${NEAR_PLACES}::int], a.app) as place
          from list_now
          where app_ids @> array[a.app] and day >= ${since}::date and list_id <> ${listId}
            and storefront = ${storefront} and platform = ${platform}
          offset 0
        ) holding
        where place is not null
        offset 0
      ) n
      group by n.term, n.places
    )
    select term, shared, relatedness, weight / (${LENGTHS}::float8[])[places] as closeness
    from sharing
    cross join lateral (select shared / sqrt(places * ${apps.length}::int) as relatedness) r
    where relatedness >= ${least}::float8
    order by closeness desc, term
    limit ${limit}`
}

const WEIGHTS = Array.from({ length: NEAR_PLACES }, (_, at) => placeWeight(at + 1))

/** The norm of the weights of the first 1, 2, 3, … places. */
const LENGTHS = WEIGHTS.map((_, at) => Math.hypot(...WEIGHTS.slice(0, at + 1)))

/** Returns the names of apps in a storefront, in their order. Null if no reading has shown one. */
export async function readNames(sql: Sql, apps: readonly number[], storefront: string): Promise<(string | null)[]> {
  const rows = await sql<{ name: string | null }[]>`
    select ${nameIn(sql, sql`a.app`, { storefront, countries: [] })} as name
    from unnest(${apps as number[]}::int[]) with ordinality a (app, place)
    order by a.place
    limit ${apps.length}`
  return rows.map(({ name }) => name)
}

/**
 * Returns keywords whose popularity order is above `above` and which have about `letters` letters, the most popular
 * first.
 */
export async function readPopularTerms(
  sql: Sql,
  { platform, storefront, letters, above }: { platform: string; storefront: string; letters: number; above: number },
): Promise<{ term: string; popularity: number | null }[]> {
  const order = popularityOrderOf(sql, {
    published: sql`n.published`,
    estimate: sql`n.estimate`,
    platform: sql`l.platform`,
  })
  return await sql<{ term: string; popularity: number | null }[]>`
    select l.term, n.published::float8 as popularity
    from list l
    join keyword_now n on n.list_id = l.id
    where l.platform = ${platform} and l.storefront = ${storefront} and ${order} > ${above}::float8
      and char_length(l.term) between ${letters - SLIPS}::int and ${letters + SLIPS}::int
    order by ${order} desc, l.term
    limit 5000`
}

/** A typing error adds or omits few letters. */
const SLIPS = 3
