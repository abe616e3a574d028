import { CHART_DEPTH } from "../../charts/sources/apple-charts.ts"
import { createGate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { MarketStorefront } from "../../lib/storefronts.ts"
import { DAY_MS } from "../../lib/time.ts"
import { MARKET_SOURCES, MARKET_UPSTREAM, type MarketPlan, marketPlanOf } from "../../market/market-plan.ts"
import { countFollowedLists, readFollowedMarket } from "../../market/read/followed.ts"
import type { Settings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { measuredBy } from "../process/measured-kinds.ts"
import { type Finding, ok, warning } from "./finding.ts"
import type { DoctorDatabase } from "./reached.ts"

/** What MARKET asks of the store, and whether the database follows what it says. */
export async function checkMarket(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  // what hinders the opening stands under "database", and a table that is missing too
  const database = await reached.database().catch(() => null)
  const look = (sql: Sql) => createGate({ deadlineMs: PATIENCE_MS }).run(() => lookAt(sql, settings))
  const found = database && (await look(database.sql).catch(() => null))
  return found
    ? [found]
    : settings.market.length === 0
      ? [NOTHING]
      : [planned(settings, marketPlanOf(unread(settings)))]
}

const PATIENCE_MS = 15_000

const NOTHING = ok("market", "MARKET is empty, so no storefront is followed")

async function lookAt(sql: Sql, settings: Settings): Promise<Finding> {
  const [followed, { market }] = [await readFollowedMarket(sql), settings]
  if (market.length === 0 && followed.length === 0) return NOTHING
  // before the first start with a MARKET nothing is followed yet
  if (followed.length === 0 || settingOf(followed) === settingOf(market))
    return planned(settings, marketPlanOf(await countFollowedLists(sql, market)))
  const { requests } = marketPlanOf(await countFollowedLists(sql, followed))
  const says = `the process that started last follows ${namesOf(followed)} with ${requests} requests a day, but MARKET here is ${namesOf(market)}`
  return warning("market", says, "set the same MARKET for every process of this database and for this command")
}

const namesOf = (market: readonly MarketStorefront[]) =>
  market.map(({ storefront }) => storefront).join(", ") || "empty"

function settingOf(market: readonly MarketStorefront[]): string {
  return market.map(({ storefront, genres }) => `${storefront}:${genres.join("+")}`).sort().join(",") // biome-ignore format: one line
}

function unread({ market }: Settings) {
  return market.map(({ storefront, genres }) => ({ storefront, lists: 4 * genres.length, read: 0, apps: 0 }))
}

function planned({ market, measuring }: Settings, plan: MarketPlan): Finding {
  const off = MARKET_SOURCES.filter((source) => measuring.sourcesOff.includes(source))
  const says = wordsOf(market, plan, measuring)
  if (off.length > 0) return warning("market", `${says}; ${off.join(", ")} is switched off`, `remove ${off.join(" and ")} from SOURCES_OFF, or leave MARKET empty`) // biome-ignore format: one line
  if (plan.mostRequests <= canOf(measuring)) return ok("market", says)
  return warning("market", says, "follow fewer storefronts or fewer genres, for example MARKET=us:36+6014")
}

function canOf(measuring: Settings["measuring"]): number {
  const gapMs = measuredBy(measuring).gapsMs.get(MARKET_UPSTREAM) ?? 0
  return Math.floor(DAY_MS / Math.max(1, gapMs))
}

function wordsOf(market: readonly MarketStorefront[], plan: MarketPlan, measuring: Settings["measuring"]): string {
  const can = canOf(measuring)
  const share = `${Math.ceil((plan.requests / can) * 1_000) / 10} % of the ${can} possible at ${MARKET_UPSTREAM}`
  const reckoned = plan.unread > 0 ? `, assuming 100 apps on each of ${plan.unread} lists that were not read yet` : ""
  const most = plan.unread > 0 ? ` (${plan.mostRequests} if each of these lists has ${CHART_DEPTH} apps)` : ""
  return `${namesOf(market)}: ${plan.lists} lists and ${plan.lookUps} look-ups of ${plan.apps} apps a day${reckoned}; ${plan.requests} requests a day${most}, ${share}`
}
