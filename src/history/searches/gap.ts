import type { Sql } from "../../database/types.ts"
import type { MarketKeyword } from "./market-keyword.ts"
import type { PlacedLists } from "./market-lists.ts"
import { type Places, POPULARITIES, popularityIn, rankIn } from "./place-news.ts"
import { readPlacedPage } from "./placed-page.ts"

/** A keyword whose latest answer holds at least one of several apps. */
export interface GapKeyword {
  term: string
  keyword: MarketKeyword
  /** How many of them it holds. */
  held: number
  /** Of each in the order asked; null = not among the results read. */
  ranks: (number | null)[]
  /** By which it stands in the order; null = none is known. */
  popularity: number | null
}

interface GapPage {
  /** The keyword before, as it was given; null = from the first on. */
  after: Pick<GapKeyword, "held" | "popularity" | "term"> | null
  limit: number
}

interface Gap {
  /** Of how many keywords each app stands among the answers, in the order asked. */
  totals: number[]
  total: number
  /** Among how many keywords. */
  searched: number
  keywords: GapKeyword[]
}

/** Those that the most of the apps (store_app ids, each once) hold first, then the most popular, then by term. */
export async function findGap(
  sql: Sql,
  lists: PlacedLists,
  apps: readonly number[],
  { after, limit }: GapPage,
): Promise<Gap> {
  const place = after && { order: -after.held * POPULARITIES - (after.popularity ?? 0), term: after.term }
  const { total, searched, places, keywords } = await readPlacedPage(sql, lists, { apps, byRank: false }, ordersOf, {
    after: place,
    limit,
  })
  return {
    ...{ totals: places.map(({ size }) => size), total, searched },
    keywords: keywords.map(({ list, order, term, keyword }) => ({
      term,
      keyword,
      held: Math.floor(-order / POPULARITIES),
      ranks: places.map((of) => {
        const held = of.get(list)
        return held === undefined ? null : rankIn(held)
      }),
      popularity: -order % POPULARITIES || null,
    })),
  }
}

function ordersOf(places: readonly Places[]): Map<number, number> {
  const orders = new Map<number, number>()
  for (const of of places)
    of.forEach((place, list) => {
      orders.set(list, (orders.get(list) ?? -popularityIn(place)) - POPULARITIES)
    })
  return orders
}
