import type { Sql } from "../../database/types.ts"
import type { MarketStorefront } from "../../lib/storefronts.ts"

/** A storefront that this instance follows: it reads four charts of each genre, and the apps on them, every day. */
interface FollowedStorefront extends MarketStorefront {
  /** The first UTC day of following. Apps on a chart that day do not count as new there. */
  since: string
}

export async function readFollowedMarket(sql: Sql): Promise<FollowedStorefront[]> {
  return await sql<FollowedStorefront[]>`
    select storefront, genres, since
    from market_storefront
    order by storefront
    limit 200`
}

/** Coverage of the charts of a storefront, followed or not. */
export interface FollowedLists {
  storefront: string
  /** Four per genre. */
  lists: number
  read: number
  /** Number of different apps on the latest reading of these charts. */
  apps: number
}

/** Counts the charts of these storefronts, followed or not. */
export async function countFollowedLists(sql: Sql, market: readonly MarketStorefront[]): Promise<FollowedLists[]> {
  const rows = market.map(({ storefront, genres }) => ({ storefront, genres: [...genres] }))
  return await sql<FollowedLists[]>`
    select m.storefront, 4 * cardinality(m.genres) as lists, count(distinct c.id)::int as read,
      count(distinct p.app_id)::int as apps
    from jsonb_to_recordset(${sql.json(rows)}) m (storefront text, genres text[])
    left join chart c on c.platform = 'ios' and c.storefront = m.storefront and c.genre = any(m.genres)
      and (c.device = 'iphone' or c.chart = 'free') and c.last_day is not null
    left join chart_place p on p.chart_id = c.id
    group by m.storefront, m.genres
    order by m.storefront
    limit 200`
}
