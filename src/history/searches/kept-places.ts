import { worksAtOnce } from "../../database/shared-reads.ts"
import type { Sql } from "../../database/types.ts"
import type { MarketKeyword } from "./market-keyword.ts"
import type { PlacedLists } from "./market-lists.ts"
import {
  byAge,
  MOST_CHANGED,
  MOST_UNRANKED,
  type News,
  type NewsQuery,
  type Places,
  POPULARITIES,
  popularityIn,
  readCount,
  readNews,
  unrankedAt,
} from "./place-news.ts"

/** Lists by their ids, and what is to be made of what is shown of them. */
interface ListChoice<Answer> {
  lists: readonly number[]
  told(keywords: ReadonlyMap<number, MarketKeyword>, searched: number): Answer
}

export interface PlacedApps {
  /** store_app ids. */
  apps: readonly number[]
  /** Lists are chosen by ranks too; else a rank is looked for in those alone that are shown. */
  byRank: boolean
}

/** What a process keeps of such lists, all of it as of `snapshot`; null = it has not looked yet. */
interface KeptLists {
  snapshot: string | null
  /** By store_app id. */
  places: Map<number, Map<number, number>>
  /** Those of them of which not all ranks were looked for. */
  unranked: Set<number>
  /** By the list's id, those that were shown. */
  keywords: Map<number, MarketKeyword>
  /** How many lists there are; null = to be counted. */
  searched: number | null
}

/** By database and lists, those asked for longest ago first. */
const stores = new WeakMap<Sql, Map<string, KeptLists>>()
/** Some 16 MB: places, of which a keyword weighs as many. */
const MOST_KEPT = 250_000
const KEYWORD = 12
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
  choose: (places: readonly Places[]) => ListChoice<Answer>,
): Promise<Answer> {
  const { apps, byRank } = asked
  const named = [...new Set(apps)]
  const ranked = byRank || named.length > MOST_UNRANKED
  let disturbed = 0
  while (disturbed < MOST_DISTURBED) {
    const kept = keptOf(sql, lists)
    const { snapshot, searched } = kept
    const missing = named.filter((app) => !kept.places.has(app) || (ranked && kept.unranked.has(app)))
    const choice = () => choose(apps.map((app) => kept.places.get(app)!))
    const chosen = snapshot === null || missing.length > 0 ? null : choice()
    const held = ranked
      ? []
      : named.flatMap((app) => (kept.unranked.has(app) ? { app, places: kept.places.get(app)! } : []))
    const isKnown = (list: number) => kept.keywords.has(list) && unrankedAt(list, held) === 0
    // by their numbers, as they were stored: of a thousand at random more are not in the processor's cache
    const unknown = Int32Array.from((chosen?.lists ?? []).filter((list) => !isKnown(list)).slice(0, AT_ONCE)).sort()
    const [counted, ...answers] = await Promise.all([
      searched === null ? readCount(sql, lists) : null,
      ...(worksAtOnce(sql) ? halves : whole)({ missing, unknown }).map((part) =>
        readNews(sql, lists, { since: snapshot, ...part, held, ranked }),
      ),
    ])
    const news = answers.toSorted(byAge)
    const isOther = news.some(({ changed }) => changed !== null)
    if (isOther || kept.snapshot !== snapshot) disturbed += 1
    const isLost = news.some(({ isBehind, changed }) => isBehind || (changed ?? []).length > MOST_CHANGED)
    if (isLost) forget(sql, lists, kept)
    // or another call has heard of something meanwhile
    if (isLost || kept.snapshot !== snapshot) continue
    if (isOther) kept.searched = null
    // what is written until it is counted is news to the next
    else if (counted) kept.searched = counted.lists
    // the later one has what was written since as well, of which the earlier one knows nothing
    for (const one of news) take(kept, one)
    // the first ones know of nothing that was written between them
    if (snapshot === null) kept.snapshot = [...news, counted!].toSorted(byAge)[0]!.snapshot
    else if (isOther) kept.snapshot = news.at(-1)!.snapshot
    // what was counted before is of before
    if (!chosen || (isOther && searched !== null)) continue
    const latest = isOther ? choice() : chosen
    if (latest.lists.every(isKnown)) {
      keepLess(sql)
      return latest.told(kept.keywords, counted?.lists ?? searched!)
    }
    // written past the triggers
    if (!isOther && !unknown.every(isKnown)) forget(sql, lists, kept)
  }
  // While others write without a pause there is always more to ask for: it is read as of one moment, and not kept.
  return (await sql.begin("isolation level repeatable read read only", (tx) =>
    readPlaces(tx as unknown as Sql, lists, asked, choose),
  )) as Answer
}

const whole = (asked: NewsPart) => [asked]

/** Two of what is much. Where an app is missing no keyword is unknown. */
function halves({ missing, unknown }: NewsPart): NewsPart[] {
  if (missing.length > 1)
    return [0, 1].map((rest) => ({ missing: missing.filter((_, at) => at % 2 === rest), unknown }))
  if (unknown.length <= MANY) return [{ missing, unknown }]
  const half = unknown.length >> 1
  return [unknown.subarray(0, half), unknown.subarray(half)].map((part) => ({ missing, unknown: part }))
}

type NewsPart = Pick<NewsQuery, "missing" | "unknown">

function storeOf(sql: Sql): Map<string, KeptLists> {
  const store = stores.get(sql) ?? new Map<string, KeptLists>()
  stores.set(sql, store)
  return store
}

function nameOf({ platform, storefront, since, today, withDemo }: PlacedLists): string {
  return [platform, storefront, since, today, withDemo].join()
}

function keptOf(sql: Sql, lists: PlacedLists): KeptLists {
  const [store, name] = [storeOf(sql), nameOf(lists)]
  const kept = store.get(name) ?? {
    ...{ snapshot: null, places: new Map(), unranked: new Set(), keywords: new Map(), searched: null },
  }
  store.delete(name)
  store.set(name, kept)
  return kept
}

/** Who has them in hand goes on with them, here as below. */
function forget(sql: Sql, lists: PlacedLists, kept: KeptLists): void {
  const [store, name] = [storeOf(sql), nameOf(lists)]
  if (store.get(name) === kept) store.delete(name)
}

function keepLess(sql: Sql): void {
  const store = storeOf(sql)
  let size = 0
  for (const [name, { places, keywords }] of [...store].toReversed()) {
    size += keywords.size * KEYWORD
    for (const { size: lists } of places.values()) size += lists
    if (size > MOST_KEPT) store.delete(name)
  }
}

function take(kept: KeptLists, news: News): void {
  for (const [list, popularity, apps] of news.changed ?? []) {
    kept.keywords.delete(list)
    for (const places of kept.places.values()) places.delete(list)
    for (const [at, app] of (apps ?? []).entries())
      kept.places.get(app)?.set(list, (at + 1) * POPULARITIES + popularity)
  }
  for (const [app, places] of news.found) {
    const held = kept.places.get(app)
    // another call may have looked for all of its ranks meanwhile
    if (held && !news.ranked && !kept.unranked.has(app)) continue
    // the same one, as another call may have it in hand
    if (held) {
      held.clear()
      for (const [list, place] of places) held.set(list, place)
    } else kept.places.set(app, places)
    if (news.ranked) kept.unranked.delete(app)
    else kept.unranked.add(app)
  }
  for (const { list, ranks, keyword } of news.keywords) {
    kept.keywords.set(list, keyword)
    for (let at = 0; at < ranks.length; at += 2) {
      const places = kept.places.get(ranks[at]!)
      const place = places?.get(list)
      if (place !== undefined) places!.set(list, ranks[at + 1]! * POPULARITIES + popularityIn(place))
    }
  }
}
