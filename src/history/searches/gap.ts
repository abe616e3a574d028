import type { Sql } from "../../database/types.ts"
import type { KeywordMetrics } from "../../observations/derived/keyword-figures.ts"
import type { Side } from "../../observations/provenance.ts"
import { DEMO, sourceOf } from "../../observations/types.ts"
import type { MarketAnswer, MarketLists } from "./lists-holding.ts"
import { type FiguresRow, metricsShown } from "./shown-figures.ts"

/** A keyword whose latest answer holds at least one of several apps. */
export interface GapKeyword extends Omit<MarketAnswer, "listId"> {
  /** How many of them it holds. */
  held: number
  /** Of each in the order asked; null = not among the results read. */
  ranks: (number | null)[]
  /** By which it stands in the order; null = none is known. */
  popularity: number | null
  /** Popularity and difficulty as answers say them. */
  metrics: KeywordMetrics
}

/** The place of a keyword in the order of a gap. */
type GapPlace = Pick<GapKeyword, "held" | "term" | "popularity">

interface GapPage {
  after: GapPlace | null
  limit: number
  /** The UTC day. */
  today: string
}

interface Gap {
  /** Of how many keywords each app stands among the answers, in the order asked. */
  totals: number[]
  total: number
  keywords: GapKeyword[]
}

/** More than any popularity. */
const POPULARITIES = 1_000

/**
 * Those that the most of the apps hold first, then the most popular, then by term. Each app's answers are read once, by the
 * index of apps in what stands now; where in them it stands, and what the keyword's figures are, is looked up of what is shown.
 * A column comes as one list: the driver and the server take three times as long for rows.
 */
export async function findGap(
  sql: Sql,
  lists: Omit<MarketLists, "withDemo">,
  /** Up to 30, each once. */
  apps: readonly number[],
  page: GapPage,
): Promise<Gap> {
  const [found] = await sql<[GapColumns]>`
    with keyword as materialized (${keywordsHolding(sql, lists, apps, page.today)}),
      best as materialized (${bestOf(sql, page)})
    select (
        select json_agg(array[places, count])
        from (
          select places, count(*)::int
          from keyword
          group by places
        ) k
      ) as held,
      json_agg(place) as place, json_agg(term) as term, json_agg(ranks) as ranks, json_agg(depth) as depth, json_agg(day) as day,
      json_agg(source) as source, json_agg(origin) as origin, json_agg(difficulty) as difficulty,
      json_agg(difficulty_day) as "difficultyDay", json_agg(estimate) as estimate, json_agg(estimate_day) as "estimateDay",
      json_agg(published) as published, json_agg(published_day) as "publishedDay", json_agg(published_by) as "publishedBy"
    from (${shownOf(sql, apps, page)}) p`
  const held = found.held ?? []
  const countOf = (bits: number) => held.reduce((sum, [places, count]) => (places & bits ? sum + count : sum), 0)
  return {
    totals: apps.map((_, at) => countOf(1 << at)),
    total: countOf(-1),
    keywords: (found.place ?? []).map((_, at) => keywordAt(found, at, lists, page.today)),
  }
}

/** `places`: which of the apps a keyword's answer holds, a bit each. `place`: by how many they are and by its popularity, 0 = none is known. */
function keywordsHolding(
  sql: Sql,
  { platform, storefront, since }: Omit<MarketLists, "withDemo">,
  apps: readonly number[],
  today: string,
) {
  return sql`
    select list_id, count(*)::int * ${POPULARITIES}::int + max(popularity) as place, bit_or(bit) as places
    from (
      select n.list_id, n.popularity, 1 << (a.place::int - 1) as bit
      from unnest(${apps as number[]}::int[]) with ordinality a (app, place)
      cross join lateral (
        select list_id, case when popular_until < ${today}::date then 0 else coalesce(popularity, 0) end as popularity
        from list_now
        where app_ids @> array[a.app] and day >= ${since}::date and origin <> ${DEMO} and storefront = ${storefront}
          and platform = ${platform}
        offset 0
      ) n
      -- in order they are grouped in half the time that a table of hashes takes
      order by n.list_id
      offset 0
    ) n
    group by list_id`
}

/** Those that may stand on the page: all that are as good as its last, as the page alone knows their terms. */
function bestOf(sql: Sql, { after, limit }: GapPage) {
  const from = after === null ? MOST_PLACE : placeOf(after)
  return sql`
    select list_id, place, places
    from keyword
    where place <= ${from}::int and place >= coalesce(
      (
        select place
        from keyword
        where place < ${from}::int
        order by place desc
        limit 1
        offset ${limit - 1}::int
      ), 0)`
}

const MOST_PLACE = 2 ** 31 - 1

function placeOf({ held, popularity }: GapPlace): number {
  return held * POPULARITIES + (popularity ?? 0)
}

function shownOf(sql: Sql, apps: readonly number[], { after, limit }: GapPage) {
  const ranks = apps.map(
    (app, at) => sql`case when b.places & ${1 << at}::int > 0 then array_position(app_ids, ${app}::int) end`,
  )
  return sql`
    select b.place, n.*, k.*
    from best b
    cross join lateral (
      select term, depth, day, source, origin,
        -- not left for after the sort, which would take all of an answer's apps along
        array[${ranks.reduce((all, rank) => sql`${all}, ${rank}`)}] as ranks
      from list_now
      where list_id = b.list_id
      offset 0
    ) n
    left join lateral (
      select difficulty, difficulty_day, estimate, estimate_day, published, published_day, published_by
      from keyword_now
      where list_id = b.list_id
      offset 0
    ) k on true
    where ${after === null}::boolean or (-b.place, n.term) > (${-(after ? placeOf(after) : 0)}::int, ${after?.term ?? ""}::text)
    order by b.place desc, n.term
    limit ${limit}`
}

/** `held`: of each set of apps, how many answers hold just it. All else is of the page, in its order; null where that is empty. */
type GapColumns = { held: [places: number, count: number][] | null } & { [Name in keyof GapRow]: GapRow[Name][] | null }

type GapRow = Pick<GapKeyword, "term" | "ranks" | "depth" | "day" | "origin"> &
  FiguresRow & { place: number; source: number }

function keywordAt(page: GapColumns, at: number, { platform }: Side, today: string): GapKeyword {
  const of = <Name extends keyof GapRow>(name: Name) => page[name]![at] as GapRow[Name]
  const place = of("place")
  const figures: FiguresRow = {
    difficulty: of("difficulty"),
    difficultyDay: of("difficultyDay"),
    estimate: of("estimate"),
    estimateDay: of("estimateDay"),
    published: of("published"),
    publishedDay: of("publishedDay"),
    publishedBy: of("publishedBy"),
  }
  return {
    term: of("term"),
    held: Math.floor(place / POPULARITIES),
    popularity: place % POPULARITIES || null,
    ranks: of("ranks"),
    depth: of("depth"),
    day: of("day"),
    source: sourceOf(of("source")),
    origin: of("origin"),
    metrics: metricsShown(figures, platform, today),
  }
}
