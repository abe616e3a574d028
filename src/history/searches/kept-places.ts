import { rootOf } from "../../database/scheduled-sql.ts"
import { worksAtOnce } from "../../database/shared-reads.ts"
import type { Sql } from "../../database/types.ts"
import { forget, type KeptLists, keepLess, keptOf, MOST_AHEAD, take } from "./kept-lists.ts"
import { readAhead } from "./keywords-ahead.ts"
import type { MarketKeyword } from "./market-keyword.ts"
import type { PlacedLists } from "./market-lists.ts"
import {
  byAge,
  isLost,
  isOther,
  MOST_UNRANKED,
  type News,
  type NewsQuery,
  type Places,
  readCount,
  readNews,
  unrankedAt,
} from "./place-news.ts"

/** Lists by their ids, and what is to be made of what is shown of them. */
interface ListChoice<Answer> {
  lists: readonly number[]
  told(keywords: ReadonlyMap<number, MarketKeyword>, searched: number): Answer
}

type Choose<Answer> = (places: readonly Places[]) => ListChoice<Answer>

export interface PlacedApps {
  /** store_app ids. */
  apps: readonly number[]
  /** Lists are chosen by ranks too; else a rank is looked for in those alone that are shown. */
  byRank: boolean
}

/** Keywords that are read at once. */
const AT_ONCE = 2_000
/** A call asks again as often because others wrote meanwhile. */
const MOST_DISTURBED = 5
/** Keywords for which a second statement is worth its while. */
const MANY = 200

/**
 * Chooses among lists by where these apps stand in them, and tells what is shown of those, as of one moment at which this call
 * was under way: each call asks for what was written since what is kept, and with it for what is not.
 */
export async function readPlaces<Answer>(
  sql: Sql,
  lists: PlacedLists,
  asked: PlacedApps,
  choose: Choose<Answer>,
): Promise<Answer> {
  return await findPlaces(sql, lists, asked, choose, { isLasting: true })
}

async function findPlaces<Answer>(
  sql: Sql,
  lists: PlacedLists,
  asked: PlacedApps,
  choose: Choose<Answer>,
  { isLasting }: { isLasting: boolean },
): Promise<Answer> {
  const { apps, byRank } = asked
  const named = [...new Set(apps)]
  let [disturbed, shown] = [0, 0]
  while (disturbed < MOST_DISTURBED) {
    const kept = keptOf(sql, lists)
    const { snapshot, searched } = kept
    const ranked = byRank || named.length > MOST_UNRANKED || isNewTo(kept, named)
    const missing = named.filter((app) => !kept.places.has(app) || (ranked && kept.unranked.has(app)))
    const choice = () => choose(apps.map((app) => kept.places.get(app)!))
    const chosen = snapshot === null || missing.length > 0 ? null : choice()
    const held = ranked
      ? []
      : named.flatMap((app) => (kept.unranked.has(app) ? { app, places: kept.places.get(app)! } : []))
    const isKnown = (list: number) => kept.keywords.has(list) && unrankedAt(list, held) === 0
    // by their numbers, as they were stored: of a thousand at random more are not in the processor's cache
    const unknown = Int32Array.from((chosen?.lists ?? []).filter((list) => !isKnown(list)).slice(0, AT_ONCE)).sort()
    const query = { since: snapshot, missing, unknown, held, ranked }
    const [counted, news] = await Promise.all([
      searched === null ? readCount(sql, lists) : null,
      readInHalves(sql, lists, query),
    ])
    const isNews = news.some(isOther)
    if (isNews || kept.snapshot !== snapshot) disturbed += 1
    if (news.some(isLost)) forget(sql, lists, kept)
    // or another call has heard of something meanwhile
    if (news.some(isLost) || kept.snapshot !== snapshot) continue
    if (isNews) kept.searched = null
    // what is written until it is counted is news to the next
    else if (counted) kept.searched = counted.lists
    // the later one has what was written since as well, of which the earlier one knows nothing
    for (const one of news) take(kept, one)
    shown += unknown.length
    // the first ones know of nothing that was written between them
    if (snapshot === null) kept.snapshot = [...news, counted!].toSorted(byAge)[0]!.snapshot
    else if (isNews) kept.snapshot = news.at(-1)!.snapshot
    // what was counted before is of before
    if (snapshot === null || (isNews && searched !== null)) continue
    // of apps that are new here ranks are yet to be looked for
    const latest = chosen && !isNews ? chosen : chosen || ranked ? choice() : null
    if (latest?.lists.every(isKnown)) {
      keepLess(sql)
      if (isLasting && shown > MANY && mayReadAhead(kept)) void readAhead(rootOf(sql), lists, kept)
      return latest.told(kept.keywords, counted?.lists ?? searched!)
    }
    // written past the triggers
    if (chosen && !isNews && !unknown.every(isKnown)) forget(sql, lists, kept)
  }
  // While others write without a pause there is always more to ask for: it is read as of one moment, and not kept.
  return (await sql.begin("isolation level repeatable read read only", (tx) =>
    findPlaces(tx as unknown as Sql, lists, asked, choose, { isLasting: false }),
  )) as Answer
}

/** Where all keywords were read ahead an app of which nobody asked needs one statement, if it looks for all ranks. */
function isNewTo({ ahead, places }: KeptLists, apps: readonly number[]): boolean {
  return ahead === "read" && apps.some((app) => !places.has(app))
}

/** Again once many of them were written anew; of a storefront with more keywords than are kept never. */
function mayReadAhead({ ahead, searched }: KeptLists): boolean {
  return ahead !== "under way" && searched !== null && searched <= MOST_AHEAD
}

/** What is much of a server by two statements at once, the earlier one first. */
async function readInHalves(sql: Sql, lists: PlacedLists, query: NewsQuery): Promise<News[]> {
  const parts = worksAtOnce(sql) ? halves(query) : [query]
  const news = await Promise.all(parts.map((part) => readNews(sql, lists, part)))
  return news.sort(byAge)
}

/** Where an app is missing no keyword is unknown. */
function halves(query: NewsQuery): NewsQuery[] {
  const { missing, unknown } = query
  if (missing.length > 1)
    return [0, 1].map((rest) => ({ ...query, missing: missing.filter((_, at) => at % 2 === rest) }))
  if (unknown.length <= MANY) return [query]
  const half = unknown.length >> 1
  return [unknown.subarray(0, half), unknown.subarray(half)].map((part) => ({ ...query, unknown: part }))
}
