import type { Sql } from "../../database/types.ts"
import { type PlacedApps, readPlaces } from "./kept-places.ts"
import type { MarketKeyword } from "./market-keyword.ts"
import type { PlacedLists } from "./market-lists.ts"
import type { Places } from "./place-news.ts"

/** Where a keyword stands on pages: the least order first, then by term. */
interface PagePlace {
  order: number
  term: string
}

interface PlacedKeyword extends PagePlace {
  list: number
  keyword: MarketKeyword
}

interface PlacedPage {
  /** Of how many lists, on whatever page. */
  total: number
  /** Among how many. */
  searched: number
  /** By app, in the order asked. */
  places: readonly Places[]
  keywords: PlacedKeyword[]
}

/**
 * A page of lists in which apps stand. Of those behind its last one only such of the same order are looked at, as
 * the order of their terms is not known before.
 */
export async function readPlacedPage(
  sql: Sql,
  lists: PlacedLists,
  apps: PlacedApps,
  /** By list, of all that are meant. */
  ordersOf: (places: readonly Places[]) => ReadonlyMap<number, number>,
  /** The one before, as it was given; null = from the first on. */
  { after, limit }: { after: PagePlace | null; limit: number },
): Promise<PlacedPage> {
  return await readPlaces(sql, lists, apps, (places) => {
    const orders = ordersOf(places)
    const from = after?.order ?? LEAST
    const later = new Int32Array(orders.size)
    let count = 0
    for (const order of orders.values()) if (order > from) later[count++] = order
    const to = count < limit ? MOST : later.subarray(0, count).sort()[limit - 1]!
    const best: number[] = []
    for (const [list, order] of orders) if (order >= from && order <= to) best.push(list)
    return {
      lists: best,
      told(known, searched) {
        const keywords = best.map((list): PlacedKeyword => {
          const keyword = known.get(list)!
          return { list, order: orders.get(list)!, term: keyword.term, keyword }
        })
        const byPlace = placeOrder(keywords, after)
        const shown = after ? keywords.filter((one) => byPlace(one, after) > 0) : keywords
        return { total: orders.size, searched, places, keywords: shown.sort(byPlace).slice(0, limit) }
      },
    }
  })
}

const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1]

/** By their order, then by term: as JavaScript compares texts, a tenth of the work, where no letter is told otherwise by that. */
function placeOrder(keywords: readonly PagePlace[], after: PagePlace | null) {
  const isOther = ({ term }: PagePlace) => HALF_OR_BEHIND.test(term)
  const byTerm = keywords.some(isOther) || (after && isOther(after)) ? byBytes : byUnits
  return (one: PagePlace, other: PagePlace) => one.order - other.order || byTerm(one.term, other.term)
}

function byUnits(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** As the database orders texts by their bytes: letters that are two here come after all others. */
function byBytes(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  for (let at = 0; at < shorter; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return a >= HALVES && b >= HALVES ? moved(a) - moved(b) : a - b
  }
  return one.length - other.length
}

const [HALVES, BEHIND] = [0xd800, 0xe000]
const HALF_OR_BEHIND = /[\ud800-\uffff]/
const moved = (unit: number) => (unit < BEHIND ? unit + BEHIND : unit)
