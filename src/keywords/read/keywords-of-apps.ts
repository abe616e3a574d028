import type { Fragment } from "postgres"
import type { Sql } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { figuresOf, type KeywordMetrics } from "../store/keyword-figures.ts"
import { inMarket, type MarketDay } from "./market-lists.ts"
import { type FiguresRow, metricsShown, shownColumns } from "./shown-figures.ts"

/** A keyword with its latest search results and figures. */
export interface MarketKeyword {
  term: string
  depth: number
  day: string
  source: RankSource
  origin: string
  figures: KeywordMetrics
}

interface AppQuery {
  /** A store_app id. */
  app: number
  /** A second app, whose rank is returned as well. Null if none. */
  comparedApp: number | null
  /** A workspace's app; the keywords that it tracks are marked as tracked. Null if none. */
  tracker: string | null
}

/** A keyword whose latest search results contain an app. */
export interface AppKeyword extends MarketKeyword {
  rank: number
  comparedRank: number | null
  tracked: boolean
}

interface AppKeywordPage {
  /** The last keyword of the previous page; null for the first page. */
  after: Pick<AppKeyword, "rank" | "term"> | null
  limit: number
}

/** Returns the keywords of an app ordered by rank, then by term. `total` counts all pages. */
export async function findAppKeywords(
  sql: Sql,
  lists: MarketDay,
  { app, comparedApp, tracker }: AppQuery,
  { after, limit }: AppKeywordPage,
): Promise<{ total: number; keywords: AppKeyword[] }> {
  const rows = await sql<({ total: number } & PageRow<Pick<AppKeyword, "rank" | "comparedRank" | "tracked">>)[]>`
    with holding as materialized (
      select list_id, term, depth, day, source, origin, array_position(app_ids, ${app}::int) as rank,
        array_position(app_ids, ${comparedApp}::int) as compared_rank
      from list_now
      where app_ids @> array[${app}::int] and ${inMarket(sql, lists)}
    ), page as materialized (
      select *
      from holding
      where (rank, term) > (${after?.rank ?? 0}::int, ${after?.term ?? ""}::text)
      order by rank, term
      limit ${limit}
    )
    select t.total, p.term, p.depth, p.day, p.source, p.origin, p.rank, p.compared_rank as "comparedRank",
      -- read once as a set: without statistics a search per keyword scans all keywords of the app each time
      p.term in (
        select term
        from tracked_term
        where (app_id, country) = (${tracker}::text, ${lists.storefront}::text)
      ) as tracked,
      ${shownColumns(sql)}
    -- a row even if the page is empty
    from (select count(*)::int as total from holding) t
    left join (page p ${joinFigures(sql)}) on true
    order by p.rank, p.term
    limit ${limit}`
  return {
    total: rows[0]!.total,
    keywords: keywordsIn(rows, lists).map(([row, keyword]) => ({
      ...keyword,
      rank: row.rank,
      comparedRank: row.comparedRank,
      tracked: row.tracked,
    })),
  }
}

/** A keyword whose latest search results contain at least one of several apps. */
export interface GapKeyword extends MarketKeyword {
  /** How many of the apps the results contain. */
  appCount: number
  /** One per app, in the order of the query; null if it is not among the results read. */
  ranks: (number | null)[]
  /** The popularity that the order uses; null if unknown. */
  popularityOrder: number | null
}

interface GapPage {
  /** The last keyword of the previous page; null for the first page. */
  after: Pick<GapKeyword, "appCount" | "popularityOrder" | "term"> | null
  limit: number
}

interface Gap {
  /** Keywords per app, in the order of the query. */
  totals: number[]
  total: number
  keywords: GapKeyword[]
}

/**
 * Returns keywords ordered by how many of the apps (distinct store_app ids) their results contain, then by popularity,
 * then by term. Scans the index once per app: a single scan with `&&` would need the ranks of all apps in every list
 * that it finds, which takes several times as long.
 */
export async function findGap(
  sql: Sql,
  lists: MarketDay,
  apps: readonly number[],
  { after, limit }: GapPage,
): Promise<Gap> {
  const ids = apps as number[]
  const ranks = ids
    .map((app) => sql`array_position(app_ids, ${app}::int)`)
    .reduce((before, rank) => sql`${before}, ${rank}`)
  const rows = await sql<
    (Omit<Gap, "keywords"> & PageRow<Pick<GapKeyword, "appCount" | "ranks" | "popularityOrder">>)[]
  >`
    with ${listsHolding(sql, lists, ids)}, page as materialized (
      select *
      from keyword
      where (-app_count, -popularity, term)
        > (${-(after?.appCount ?? MAX_INT)}::int, ${-(after?.popularityOrder ?? 0)}::int, ${after?.term ?? ""}::text)
      order by app_count desc, popularity desc, term
      limit ${limit}
    )
    select t.total, t.totals, p.term, p.app_count as "appCount", nullif(p.popularity, 0) as "popularityOrder", l.depth,
      l.day, l.source, l.origin, l.ranks, ${shownColumns(sql)}
    -- a row even if the page is empty
    from (
      select (select count(*) from keyword)::int as total, array(
          select (select count(*) from holding where at = a.at)::int
          from generate_series(1, ${ids.length}::int) a (at)
          order by a.at
        ) as totals
    ) t
    left join (
      page p
      join lateral (
        select depth, day, source, origin, array[${ranks}] as ranks
        from list_now
        where list_id = p.list_id
        offset 0
      ) l on true
      ${joinFigures(sql)}
    ) on true
    order by p.app_count desc, p.popularity desc, p.term
    limit ${limit}`
  return {
    totals: rows[0]!.totals,
    total: rows[0]!.total,
    keywords: keywordsIn(rows, lists).map(([row, keyword]) => ({
      ...keyword,
      appCount: row.appCount,
      ranks: row.ranks,
      popularityOrder: row.popularityOrder,
    })),
  }
}

const MAX_INT = 2 ** 31 - 1

/** Returns two queries for a `with`: `holding`, a row per list and app it contains, and `keyword`, a row per list. */
function listsHolding(sql: Sql, lists: MarketDay, apps: number[]): Fragment {
  return sql`
    holding as materialized (
      select a.at, n.list_id, n.term, n.popularity
      from unnest(${apps}::int[]) with ordinality a (app, at)
      cross join lateral (
        select list_id, term,
          case when popular_until < ${lists.today}::date then 0 else coalesce(popularity, 0) end as popularity
        from list_now
        where app_ids @> array[a.app] and ${inMarket(sql, lists)}
        offset 0
      ) n
    ), keyword as materialized (
      select list_id, term, popularity, count(*)::int as app_count
      from holding
      group by list_id, term, popularity
    )`
}

type KeywordRow = Omit<MarketKeyword, "source" | "figures"> & FiguresRow & { source: number }

/** The only row of an empty page has nulls. */
type PageRow<Own> = (KeywordRow & Own) | { term: null }

function joinFigures(sql: Sql): Fragment {
  return sql`
    left join lateral (${figuresOf(sql, sql`p.list_id`)}) n on true`
}

function keywordsIn<Own>(
  rows: readonly PageRow<Own>[],
  { platform, today }: MarketDay,
): [KeywordRow & Own, MarketKeyword][] {
  return rows
    .filter((row): row is KeywordRow & Own => row.term !== null)
    .map((row) => {
      const { term, depth, day, source, origin } = row
      const figures = metricsShown(row, platform, today)
      return [row, { term, depth, day, source: sourceOf(source), origin, figures }]
    })
}
