import type { Fragment } from "postgres"
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

export interface AppQuery {
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

export interface AppKeywordPage {
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
    with held as materialized (
      select list_id, array_position(app_ids, ${app}::int) as rank, array_position(app_ids, ${beside}::int) as beside,
        depth, day, source, origin
      from list_now
      where app_ids @> array[${app}::int] and day >= ${since}::date and (${withDemo ?? false}::boolean or origin <> ${DEMO})
    ), market as materialized (
      select h.*, l.term
      from held h
      cross join lateral (${keywordOf(sql, { platform, storefront }, sql`h.list_id`)}) l
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

/** A keyword whose latest answer holds at least one of several apps. */
export interface GapKeyword extends MarketAnswer {
  /** How many of them it holds. */
  held: number
  /** Of each in the order asked; null = not among the results read. */
  ranks: (number | null)[]
}

export interface GapPage {
  after: GapPlace | null
  limit: number
}

/** The place of a keyword in the order of a gap; popularity null = none is known. */
export type GapPlace = Pick<GapKeyword, "held" | "term"> & { popularity: number | null }

export interface Gap {
  /** Of how many keywords each app stands among the answers, in the order asked. */
  totals: number[]
  total: number
  keywords: (GapKeyword & { popularity: number | null })[]
}

/**
 * Those that the most of the apps hold first, then the most popular, then by term. Ranks are looked up of what is shown alone:
 * the index says who is in an answer, not where. A published popularity comes before an estimate that `shownSince`.
 */
export async function findGap(
  sql: Sql,
  { platform, storefront, since }: Omit<MarketLists, "withDemo">,
  /** Up to 30. */
  apps: readonly number[],
  { after, limit, shownSince }: GapPage & { shownSince: string },
): Promise<Gap> {
  const listed = (columns: Fragment[]): Fragment => columns.reduce((all, one) => sql`${all}, ${one}`)
  const totals = apps.map((_, at) => sql`count(*) filter (where places & ${2 << at}::int > 0)`)
  // 0 = none
  const ranks = apps.map(
    (app, at) => sql`case when p.places & ${2 << at}::int > 0 then array_position(n.app_ids, ${app}::int) else 0 end`,
  )
  const rows = await sql<(GapRow | NoRow)[]>`
    with keyword as materialized (
      select p.list_id, p.places, bit_count(p.places::bit(32))::int as held, l.term, k.popularity
      from (
        select n.list_id, bit_or(1 << a.place::int) as places
        from unnest(${apps as number[]}::int[]) with ordinality a (app, place)
        cross join lateral (
          select list_id
          from list_now
          where app_ids @> array[a.app] and day >= ${since}::date and origin <> ${DEMO}
          offset 0
        ) n
        group by n.list_id
      ) p
      cross join lateral (${keywordOf(sql, { platform, storefront }, sql`p.list_id`)}) l
      left join lateral (
        select coalesce(published, case when estimate_day >= ${shownSince}::date then estimate end)::int as popularity
        from keyword_now
        where list_id = p.list_id
        offset 0
      ) k on true
    ), page as materialized (
      select *
      from keyword
      where ${after?.held ?? null}::int is null
        or (-held, -coalesce(popularity, 0), term)
          > (${-(after?.held ?? 0)}::int, ${-(after?.popularity ?? 0)}::int, ${after?.term ?? ""}::text)
      order by held desc, coalesce(popularity, 0) desc, term
      limit ${limit}
    )
    -- said once: the driver takes as long for an array in each row as for all else
    select case when row_number() over in_order = 1 then t.total end as total,
      case when row_number() over in_order = 1 then t.totals end as totals, k.*
    from (
      select count(*)::int as total, array[${listed(totals)}]::int[] as totals
      from keyword
    ) t
    left join (${shownKeywords(sql, listed(ranks))}) k on true
    window in_order as (order by k.held desc, coalesce(k.popularity, 0) desc, k.term)
    order by k.held desc, coalesce(k.popularity, 0) desc, k.term
    limit ${limit}`
  const { totals: ofApps, total } = rows[0]!
  return { totals: ofApps, total, keywords: rows.flatMap(keywordsIn) }
}

function keywordsIn({ code, totals: _, total: __, ...row }: GapRow | NoRow): Gap["keywords"] {
  if (code === null) return []
  const { ranks, ...shown } = row as Omit<GapRow, keyof NoRow>
  return [{ ...shown, ranks: ranks.split(",").map((rank) => Number(rank) || null), source: sourceOf(code) }]
}

/** The rows of `page`, with ranks as one text, which the driver reads sooner than an array. */
function shownKeywords(sql: Sql, ranks: Fragment) {
  return sql`
    select p.list_id as "listId", p.term, p.held, p.popularity, n.depth, n.day, n.source as code, n.origin,
      concat_ws(',', ${ranks}) as ranks
    from page p
    cross join lateral (
      select depth, day, source, origin, app_ids
      from list_now
      where list_id = p.list_id
      offset 0
    ) n`
}

/** What the first row says of all; alone where the page is empty. */
interface NoRow {
  totals: number[]
  total: number
  code: number | null
}

type GapRow = Omit<Gap["keywords"][number], "source" | "ranks"> & NoRow & { ranks: string }

/** The keyword of a list of this storefront, looked up for each: joined, all the keywords that there are were read. */
function keywordOf(sql: Sql, { platform, storefront }: Side, listId: ReturnType<Sql>) {
  return sql`
    select term collate "C" as term
    from list
    where id = ${listId}
      -- by no index: before any statistics the planner took that of a storefront's keywords instead of the key
      and (platform, storefront) is not distinct from (${platform}, ${storefront})
    offset 0`
}
