import type { Sql } from "../../database/types.ts"
import { type KeywordRow, type MarketKeyword, marketKeyword } from "./market-keyword.ts"
import { countMarketLists, inMarket, type PlacedLists } from "./market-lists.ts"

/** Where an app stands: by the list's id its rank, and by what the keyword is ordered, as one number. */
export type Places = ReadonlyMap<number, number>
/** More than any popularity; 0 = none is known. */
export const POPULARITIES = 1_000
export const rankIn = (place: number) => Math.floor(place / POPULARITIES)
export const popularityIn = (place: number) => place % POPULARITIES

/** Lists by their ids, and what is to be made of what is shown of them. */
interface ListChoice<Answer> {
  lists: readonly number[]
  told(keywords: ReadonlyMap<number, MarketKeyword>, searched: number): Answer
}

/** What a process keeps of such lists, all of it as of `snapshot`; null = it has not looked yet. */
interface KeptLists {
  snapshot: string | null
  /** By store_app id. */
  places: Map<number, Map<number, number>>
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
/** Of more lists that are others at once everything is forgotten. */
const MOST_CHANGED = 500
/** Keywords that one statement reads. */
const AT_ONCE = 2_000

/**
 * Chooses among lists by where these apps (store_app ids) stand in them, and tells what is shown of those, as of one moment at which
 * this call was under way: each call asks for what was written since what is kept, and with it for what is not.
 */
export async function readPlaces<Answer>(
  sql: Sql,
  lists: PlacedLists,
  apps: readonly number[],
  choose: (places: readonly Places[]) => ListChoice<Answer>,
): Promise<Answer> {
  for (;;) {
    const kept = keptOf(sql, lists)
    const { snapshot, searched } = kept
    const missing = [...new Set(apps)].filter((app) => !kept.places.has(app))
    const choice = () => choose(apps.map((app) => kept.places.get(app)!))
    const chosen = snapshot === null || missing.length > 0 ? null : choice()
    const unknown = (chosen?.lists ?? []).filter((list) => !kept.keywords.has(list)).slice(0, AT_ONCE)
    const [news, counted] = await Promise.all([
      readNews(sql, lists, { since: snapshot, missing, unknown }),
      // what is written until it is counted is news to the next
      chosen && searched === null ? countMarketLists(sql, lists) : searched,
    ])
    const isLost = news.isBehind || (news.changed ?? []).length > MOST_CHANGED
    if (isLost) forget(sql, lists, kept)
    // or another call has heard of something meanwhile
    if (isLost || kept.snapshot !== snapshot) continue
    if (news.changed) takeChanges(kept, news.changed)
    else kept.searched = counted
    if (news.changed || snapshot === null) kept.snapshot = news.snapshot
    for (const [at, app] of missing.entries()) kept.places.set(app, unpacked(news.places![at]!))
    for (const [at, list] of (news.lists ?? []).entries()) kept.keywords.set(list, keywordAt(news, at, lists))
    // what was counted before is of before
    if (!chosen || (news.changed && searched !== null)) continue
    const known = (list: number) => kept.keywords.has(list)
    const latest = news.changed ? choice() : chosen
    if (latest.lists.every(known)) {
      keepLess(sql)
      return latest.told(kept.keywords, counted!)
    }
    // written past the triggers
    if (!news.changed && !unknown.every(known)) forget(sql, lists, kept)
  }
}

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
  const kept = store.get(name) ?? { snapshot: null, places: new Map(), keywords: new Map(), searched: null }
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

function takeChanges(kept: KeptLists, changed: NonNullable<News["changed"]>): void {
  kept.searched = null
  for (const [list, popularity, apps] of changed) {
    kept.keywords.delete(list)
    for (const places of kept.places.values()) places.delete(list)
    for (const [at, app] of (apps ?? []).entries())
      kept.places.get(app)?.set(list, (at + 1) * POPULARITIES + popularity)
  }
}

interface News extends Columns {
  snapshot: string
  /** The database has gone back to before what is kept, as a standby that takes over may. */
  isBehind: boolean
  /** Lists that the last snapshot does not show as they are: null = none. Without apps = it is none of these any more. */
  changed: [list: number, popularity: number, apps: number[] | null][] | null
  /** Of each missing app, in hex: eight bytes for each list. */
  places: string[] | null
}

/** Of keywords; null = of none. */
type Columns = { [Name in keyof ListRow]: ListRow[Name][] | null }
interface ListRow extends KeywordRow {
  lists: number
}

/**
 * A transaction that the last snapshot does not show may have begun before it: each row says which one wrote it. Numbers yet
 * to come are those of a database that these rows were copied from. A column comes as one list: rows take three times as long.
 */
async function readNews(
  sql: Sql,
  lists: PlacedLists,
  { since, missing, unknown }: { since: string | null; missing: readonly number[]; unknown: readonly number[] },
): Promise<News> {
  const popularity = sql`case when popular_until < ${lists.today}::date then 0 else coalesce(popularity, 0) end`
  const [news] = await sql<[News]>`
    select pg_current_snapshot()::text as snapshot,
      coalesce(pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax(${since}::pg_snapshot), false) as "isBehind", (
        select json_agg(json_build_array(c.list_id, n.popularity, n.app_ids))
        from (
          select list_id
          from list_news
          where storefront = ${lists.storefront} and platform = ${lists.platform}
            and changed >= pg_snapshot_xmin(${since}::pg_snapshot)
            and changed < pg_snapshot_xmax(pg_current_snapshot())
            and not pg_visible_in_snapshot(changed, ${since}::pg_snapshot)
          order by changed
          limit ${MOST_CHANGED + 1}
        ) c
        left join lateral (
          select ${popularity} as popularity, app_ids
          from list_now
          where list_id = c.list_id and ${inMarket(sql, lists)}
          offset 0
        ) n on true
      ) as changed, (
        select json_agg(encode(p.places, 'hex') order by a.at)
        from unnest(${missing as number[]}::int[]) with ordinality a (app, at)
        cross join lateral (
          select coalesce(
              string_agg(int4send(list_id) || int4send(array_position(app_ids, a.app) * ${POPULARITIES}::int + ${popularity}), ''),
              ''
            ) as places
          from list_now
          where app_ids @> array[a.app] and ${inMarket(sql, lists)}
          offset 0
        ) p
      ) as places, k.*
    from (
      select json_agg(list_id) as lists, json_agg(term) as term, json_agg(depth) as depth, json_agg(day) as day,
        json_agg(source) as source, json_agg(origin) as origin, json_agg(difficulty) as difficulty,
        json_agg(difficulty_day) as "difficultyDay", json_agg(estimate) as estimate, json_agg(estimate_day) as "estimateDay",
        json_agg(published) as published, json_agg(published_day) as "publishedDay", json_agg(published_by) as "publishedBy"
      from unnest(${unknown as number[]}::int[]) u (id)
      cross join lateral (
        select list_id, term, depth, day, source, origin
        from list_now
        where list_id = u.id
        offset 0
      ) n
      left join lateral (
        select difficulty, difficulty_day, estimate, estimate_day, published, published_day, published_by
        from keyword_now
        where list_id = u.id
        offset 0
      ) f on true
    ) k`
  return news
}

function unpacked(hex: string): Map<number, number> {
  const packed = Buffer.from(hex, "hex")
  const places = new Map<number, number>()
  for (let at = 0; at < packed.length; at += 8) places.set(packed.readInt32BE(at), packed.readInt32BE(at + 4))
  return places
}

function keywordAt(news: Columns, at: number, lists: PlacedLists): MarketKeyword {
  const of = <Name extends keyof ListRow>(name: Name) => news[name]![at] as ListRow[Name]
  const row: KeywordRow = {
    term: of("term"),
    depth: of("depth"),
    day: of("day"),
    source: of("source"),
    origin: of("origin"),
    difficulty: of("difficulty"),
    difficultyDay: of("difficultyDay"),
    estimate: of("estimate"),
    estimateDay: of("estimateDay"),
    published: of("published"),
    publishedDay: of("publishedDay"),
    publishedBy: of("publishedBy"),
  }
  return marketKeyword(row, lists)
}
