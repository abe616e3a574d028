import type { OutdatedReading } from "../../core/observation/shown-apps.ts"
import type { StoreApps } from "../../core/recording.ts"
import type { Tx } from "../../database/types.ts"
import { deriveAppTexts } from "./app-texts.ts"
import { appsWithFacts, lockApps, storeFacts } from "./facts.ts"
import { storeMarket } from "./market.ts"
import { type SOURCE_WEIGHTS, storeNames, weightRange } from "./names.ts"

/** Stores market facts, facts, names and rating counts of apps, and derives the texts by which they are found. */
export const storeApps: StoreApps = async (tx, { market, shown, named, outdated }, ids) => {
  const newMarket = await storeMarket(tx, market, ids)
  await lockApps(tx, [...new Set([...appsWithFacts([...shown, ...named]), ...outdated.map(({ appId }) => appId)])])
  await removeOutdated(tx, outdated)
  const { rated, counted, resold } = await storeFacts(tx, shown)
  const renamed = await storeNames(tx, named)
  await deriveAppTexts(tx, [...resold, ...renamed.map(({ appId }) => appId)])
  return { market: newMarket, rated, counted, renamed }
}

/**
 * Removes the rating counts of outdated readings, and lets any other reading replace their names and icons. Requires
 * the apps' lock (lockApps).
 */
async function removeOutdated(tx: Tx, readings: readonly OutdatedReading[]): Promise<void> {
  if (readings.length === 0) return
  const rows = readings.map(({ appId: app_id, storefront, source, seenAt }) => {
    const { least, most } = weightRange(source as keyof typeof SOURCE_WEIGHTS)
    return { app_id, storefront, source, seen_at: seenAt.toISOString(), least, most }
  })
  await tx`
    delete from rating_count c
    using jsonb_to_recordset(${tx.json(rows)}) r (app_id int, storefront text, source text, seen_at timestamptz)
    where (c.app_id, c.storefront, c.source, c.seen_at) = (r.app_id, r.storefront, r.source, r.seen_at)
      and c.day = (r.seen_at at time zone 'utc')::date`
  await tx`
    update store_app_name n
    set name_at = case when n.name_at = r.seen_at and n.name_weight between r.least and r.most then to_timestamp(0)
        else n.name_at end,
      icon_at = case when n.icon_at = r.seen_at and n.icon_weight between r.least and r.most then to_timestamp(0)
        else n.icon_at end
    from jsonb_to_recordset(${tx.json(rows)}) r (
      app_id int, storefront text, seen_at timestamptz, least int, most int
    )
    where (n.app_id, n.storefront) = (r.app_id, r.storefront)
      and (n.name_at = r.seen_at and n.name_weight between r.least and r.most
        or n.icon_at = r.seen_at and n.icon_weight between r.least and r.most)`
}
