import { rootOf } from "../../database/scheduled-sql.ts"
import { createSharedReads } from "../../database/shared-reads.ts"
import type { Sql } from "../../database/types.ts"
import { KeptTexts } from "./kept-texts.ts"
import type { MarketStand } from "./lists.ts"

/** The apps (store_app ids, in order) whose texts hold all of these parts. */
interface KeptText {
  parts: readonly string[]
  apps: Int32Array
}

/** What a process keeps of a database's market. All of it is so as of `snapshot`; null = it has not looked yet. */
export interface KeptMarket {
  snapshot: string | null
  /** What is shown of apps (found-apps.ts), by store_app id. */
  shown: KeptTexts
  /** By their parts, those kept longest first. */
  texts: Map<string, KeptText>
  /** Counts what was written since: what was asked for before it is not kept. */
  changes: number
  /** Of the newest figures of apps (figure-table.ts); null = there are none. */
  figures: string | null
  /** By storefront; and a sum of it, which is another once one of them is. */
  stand: Map<string, MarketStand>
  sum: string
}

const markets = new WeakMap<Sql, KeptMarket>()
const readTogether = createSharedReads<void>()
/** 100,000 apps whose names are of usual length; those of other storefronts take as much again. */
const MOST_SHOWN = 15_000_000
/** Of more apps that are others at once everything is forgotten. */
const MOST_CHANGED = 200

/** What is kept, after what was written until now: one reading for all who ask meanwhile. */
export async function readMarketNews(sql: Sql): Promise<KeptMarket> {
  const database = rootOf(sql)
  const kept = markets.get(database) ?? newMarket()
  markets.set(database, kept)
  await readTogether(sql, "market", (handle) => readNews(handle, kept))
  return kept
}

function newMarket(): KeptMarket {
  return {
    snapshot: null,
    shown: new KeptTexts(MOST_SHOWN),
    texts: new Map(),
    changes: 0,
    figures: null,
    stand: new Map(),
    sum: "",
  }
}

interface News {
  snapshot: string
  /** The database has gone back to before what is kept, as a standby that takes over may. */
  isBehind: boolean
  /** Those that the last snapshot does not show; null = none. */
  changed: { app: number; folded: string | null }[] | null
  figures: string | null
  sum: string
  /** Null = as the last sum has it. */
  stand: MarketStand[] | null
}

/**
 * A transaction that the last snapshot does not show may have begun before it: each row says which one wrote it. Numbers yet
 * to come are those of a database that these rows were copied from.
 */
async function readNews(sql: Sql, kept: KeptMarket): Promise<void> {
  const since = kept.snapshot
  const [news] = await sql<[News]>`
    select pg_current_snapshot()::text as snapshot,
      coalesce(pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax(${since}::pg_snapshot), false) as "isBehind", (
        select json_agg(json_build_object('app', h.app_id, 'folded', t.folded))
        from (
          select app_id
          from app_shown
          where changed >= pg_snapshot_xmin(${since}::pg_snapshot)
            and changed < pg_snapshot_xmax(pg_current_snapshot())
            and not pg_visible_in_snapshot(changed, ${since}::pg_snapshot)
          order by changed
          limit ${MOST_CHANGED + 1}
        ) h
        left join app_text t on t.app_id = h.app_id
      ) as changed, (select max(version)::text from app_estimate) as figures, sum.is as sum, case when sum.is <> ${kept.sum} then (
        select coalesce(json_agg(
            json_build_object(
              'country', k.storefront, 'version', s.version, 'followedSince', m.since, 'followedGenres', m.genres
            )
            order by k.storefront
          ), '[]')
        from (select storefront from storefront_now union select storefront from market_storefront) k
        left join storefront_now s on s.storefront = k.storefront
        left join market_storefront m on m.storefront = k.storefront
      ) end as stand
    from (
      -- put together each time the rows would take ten times as long; a version is random and comes once
      select concat_ws(' ', (select bit_xor(uuid_hash_extended(version, 0)) from storefront_now),
          (select bit_xor(hashtextextended(m::text, 0)) from market_storefront m)) as is
      offset 0
    ) sum`
  // an earlier reading that was long under way says less
  if (kept.snapshot !== since) return await readNews(sql, kept)
  kept.snapshot = news.snapshot
  kept.figures = news.figures
  if (news.stand) {
    kept.sum = news.sum
    kept.stand = new Map(news.stand.map((one) => [one.country, one]))
  }
  const changed = news.changed ?? []
  if (changed.length > 0 || news.isBehind) kept.changes++
  if (changed.length > MOST_CHANGED || news.isBehind) {
    kept.shown.clear()
    kept.texts.clear()
    return
  }
  for (const { app, folded } of changed) {
    kept.shown.delete(app)
    for (const [name, text] of kept.texts) {
      const has = folded !== null && text.parts.every((part) => folded.includes(part))
      const apps = withApp(text.apps, app, has)
      if (apps !== text.apps) kept.texts.set(name, { ...text, apps })
    }
  }
}

/** With it or without; the same where it was so. */
function withApp(apps: Int32Array, app: number, has: boolean): Int32Array {
  let [low, high] = [0, apps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (apps[middle]! < app) low = middle + 1
    else high = middle
  }
  if ((apps[low] === app) === has) return apps
  return Int32Array.from([...apps.subarray(0, low), ...(has ? [app] : []), ...apps.subarray(has ? low : low + 1)])
}

/** How these storefronts' lists stand, in the order of their codes. */
export function standOf({ stand }: KeptMarket, countries: readonly string[]): MarketStand[] {
  const none = { version: null, followedSince: null, followedGenres: null }
  return countries.toSorted().map((country) => stand.get(country) ?? { country, ...none })
}
