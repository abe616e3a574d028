import type { Sql } from "../../database/types.ts"
import type { MarketKeyword } from "./market-keyword.ts"
import type { PlacedLists } from "./market-lists.ts"
import { type Places, rankIn } from "./place-news.ts"
import { readPlacedPage } from "./placed-page.ts"

interface AppQuery {
  /** A store_app id, as `beside`. */
  app: number
  /** Another, whose rank stands beside; null = none. */
  beside: number | null
  /** A workspace's app, whose tracked keywords are marked; null = none. */
  tracker: string | null
}

/** A keyword whose latest answer holds an app. */
export interface AppKeyword {
  term: string
  keyword: MarketKeyword
  rank: number
  besideRank: number | null
  tracked: boolean
}

interface AppKeywordPage {
  /** The keyword before, as it was given; null = from the first on. */
  after: Pick<AppKeyword, "rank" | "term"> | null
  limit: number
}

/** The best ranks first. `total` counts all of them, on whatever page, `searched` those that were looked into. */
export async function findAppKeywords(
  sql: Sql,
  lists: PlacedLists,
  { app, beside, tracker }: AppQuery,
  { after, limit }: AppKeywordPage,
): Promise<{ total: number; searched: number; keywords: AppKeyword[] }> {
  const place = after && { order: after.rank, term: after.term }
  const apps = beside === null ? [app] : [app, beside]
  const { total, searched, places, keywords } = await readPlacedPage(sql, lists, { apps, byRank: true }, ranksOf, {
    after: place,
    limit,
  })
  const terms = keywords.map(({ term }) => term)
  const tracked = tracker === null ? NONE : await readTracked(sql, { tracker, storefront: lists.storefront, terms })
  return {
    ...{ total, searched },
    keywords: keywords.map(({ list, order, term, keyword }) => {
      const held = places[1]?.get(list)
      const besideRank = held === undefined ? null : rankIn(held)
      return { term, keyword, rank: order, besideRank, tracked: tracked.has(term) }
    }),
  }
}

const NONE: ReadonlySet<string> = new Set()

function ranksOf([of]: readonly Places[]): Map<number, number> {
  return new Map([...of!].map(([list, place]) => [list, rankIn(place)]))
}

/** Which of these terms a workspace's app tracks there. */
async function readTracked(
  sql: Sql,
  { tracker, storefront, terms }: { tracker: string; storefront: string; terms: readonly string[] },
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${tracker} and country = ${storefront} and term = any(${terms as string[]}::text[])
    order by term
    limit ${terms.length}`
  return new Set(rows.map(({ term }) => term))
}
