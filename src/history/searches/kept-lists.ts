import { rootOf } from "../../database/scheduled-sql.ts"
import type { Sql } from "../../database/types.ts"
import type { MarketKeyword } from "./market-keyword.ts"
import type { PlacedLists } from "./market-lists.ts"
import { type News, POPULARITIES, popularityIn } from "./place-news.ts"

/** What a process keeps of such lists, all of it as of `snapshot`; null = it has not looked yet. */
export interface KeptLists {
  snapshot: string | null
  /** By store_app id. */
  places: Map<number, Map<number, number>>
  /** Those of them of which not all ranks were looked for. */
  unranked: Set<number>
  /** By the list's id, what was shown of it or read ahead. */
  keywords: Map<number, MarketKeyword>
  /** How many lists there are; null = to be counted. */
  searched: number | null
  /** Whether what is shown of all lists is read ahead, or was: those that were written since are read again when they are shown. */
  ahead: "no" | "under way" | "read"
}

/** By database and lists, those asked for longest ago first. */
const stores = new WeakMap<Sql, Map<string, KeptLists>>()
/** Some 32 MB: places, of which a keyword weighs as many. */
const MOST_KEPT = 320_000
const KEYWORD = 8
/** Lists that are read ahead at the most: there is room for as many places. */
export const MOST_AHEAD = MOST_KEPT / KEYWORD / 2

function storeOf(sql: Sql): Map<string, KeptLists> {
  const database = rootOf(sql)
  const store = stores.get(database) ?? new Map<string, KeptLists>()
  stores.set(database, store)
  return store
}

function nameOf({ platform, storefront, since, today, withDemo }: PlacedLists): string {
  return [platform, storefront, since, today, withDemo].join()
}

export function keptOf(sql: Sql, lists: PlacedLists): KeptLists {
  const [store, name] = [storeOf(sql), nameOf(lists)]
  const kept = store.get(name) ?? {
    ...{ snapshot: null, places: new Map(), unranked: new Set(), keywords: new Map(), searched: null },
    ahead: "no" as const,
  }
  store.delete(name)
  store.set(name, kept)
  return kept
}

/** Who has them in hand goes on with them, here as below. */
export function forget(sql: Sql, lists: PlacedLists, kept: KeptLists): void {
  if (isKept(sql, lists, kept)) storeOf(sql).delete(nameOf(lists))
}

export function isKept(sql: Sql, lists: PlacedLists, kept: KeptLists): boolean {
  return storeOf(sql).get(nameOf(lists)) === kept
}

export function keepLess(sql: Sql): void {
  const store = storeOf(sql)
  let size = 0
  for (const [name, { places, keywords }] of [...store].toReversed()) {
    size += keywords.size * KEYWORD
    for (const { size: lists } of places.values()) size += lists
    if (size > MOST_KEPT) store.delete(name)
  }
}

export function take(kept: KeptLists, news: News): void {
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
