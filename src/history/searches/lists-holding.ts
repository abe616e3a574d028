import type { Sql } from "../../database/types.ts"
import type { Side } from "../../observations/provenance.ts"
import { DEMO, type RankSource, sourceOf } from "../../observations/types.ts"

/** Keywords of a storefront, whoever tracks them, whose latest answer is of that UTC day or later. */
export interface MarketLists extends Side {
  since: string
  /** Left out: the demo's are none. */
  withDemo?: true
}

export async function countMarketLists(
  sql: Sql,
  { platform, storefront, since, withDemo }: MarketLists,
): Promise<number> {
  const [row] = await sql<[{ lists: number }]>`
    select (
      select count(*)
      from list
      where platform = ${platform} and storefront = ${storefront} and last_day >= ${since}::date
    )::int - (
      select count(*)
      from list_now n
      join list l on l.id = n.list_id
      where n.origin = ${DEMO} and n.day >= ${since}::date and not ${withDemo ?? false}::boolean
        and l.platform = ${platform} and l.storefront = ${storefront}
    )::int as lists`
  return row.lists
}

/** What was answered to a keyword last. */
export interface MarketAnswer {
  listId: number
  term: string
  depth: number
  day: string
  source: RankSource
  origin: string
}

interface AppQuery {
  /** A store_app id, as `beside`. */
  app: number
  /** Another, whose rank stands beside; null = none. */
  beside: number | null
  /** A workspace's app, whose tracked keywords are marked; null = none. */
  tracker: string | null
}

/** A keyword whose latest answer holds an app. */
export interface AppKeyword extends MarketAnswer {
  rank: number
  besideRank: number | null
  tracked: boolean
}

interface AppKeywordPage {
  /** The keyword before, as it was given; null = from the first on. */
  after: Pick<AppKeyword, "rank" | "term"> | null
  limit: number
}

/**
 * The best ranks first. `total` counts all of them, on whatever page. By the index of apps in what stands now: answers that do
 * not hold the app are not looked at.
 */
export async function findAppKeywords(
  sql: Sql,
  { platform, storefront, since, withDemo }: MarketLists,
  { app, beside, tracker }: AppQuery,
  { after, limit }: AppKeywordPage,
): Promise<{ total: number; keywords: AppKeyword[] }> {
  const rows = await sql<(Omit<AppKeyword, "source"> & { code: number; total: number })[]>`
    with market as materialized (
      select list_id, array_position(app_ids, ${app}::int) as rank, array_position(app_ids, ${beside}::int) as beside,
        depth, day, source, origin, term
      from list_now
      where app_ids @> array[${app}::int] and day >= ${since}::date and storefront = ${storefront} and platform = ${platform}
        and (${withDemo ?? false}::boolean or origin <> ${DEMO})
    ), page as materialized (
      select *
      from market
      where ${after?.rank ?? null}::int is null
        or (rank, term) > (${after?.rank ?? null}::int, ${after?.term ?? null}::text)
      order by rank, term
      limit ${limit}
    )
    select list_id as "listId", term, rank, depth, day, source as code, origin, (select count(*) from market)::int as total,
      beside as "besideRank",
      ${tracker}::text is not null and exists (
        select
        from tracked_term t
        -- by the collation of its key: by another, all keywords of the app were read for each row
        where t.app_id = ${tracker} and t.country = ${storefront} and t.term = p.term collate "default"
      ) as tracked
    from page p
    order by rank, term
    limit ${limit}`
  return {
    total: rows[0]?.total ?? 0,
    keywords: rows.map(({ code, total: _, ...row }) => ({ ...row, source: sourceOf(code) })),
  }
}
