import type { StoreApps } from "../../core/recording.ts"
import { deriveAppTexts } from "./app-texts.ts"
import { appsWithFacts, lockApps, storeFacts } from "./facts.ts"
import { storeMarket } from "./market.ts"
import { storeNames } from "./names.ts"
import { removeOutdated } from "./outdated.ts"

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
