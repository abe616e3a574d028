import { CHART_DEPTH } from "../../charts/sources/apple-charts.ts"
import { createGate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { MarketStorefront } from "../../lib/storefronts.ts"
import { DAY_MS } from "../../lib/time.ts"
import { readChosenMarket, unionOf } from "../../market/followed-storefronts.ts"
import { MARKET_SOURCES, MARKET_UPSTREAM, type MarketPlan, marketPlanOf } from "../../market/market-plan.ts"
import { countFollowedLists, readFollowedMarket } from "../../market/read/followed.ts"
import type { Settings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { measuredBy } from "../process/measured-kinds.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, ok, warning } from "./finding.ts"

/** Checks the load of MARKET, and whether the database follows this setting. */
export async function checkMarket(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  // the finding "database" reports why the database cannot be opened, or that a table is missing
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
  const followed = await readFollowedMarket(sql)
  const market = unionOf(settings.market, await readChosenMarket(sql))
  if (market.length === 0 && followed.length === 0) return NOTHING
  // no storefront is followed before the first start with MARKET
  if (followed.length === 0 || settingOf(followed) === settingOf(market))
    return planned({ ...settings, market }, marketPlanOf(await countFollowedLists(sql, market)))
  const { requests } = marketPlanOf(await countFollowedLists(sql, followed))
  const follows = `follows ${namesOf(followed)} with ${requests} requests a day`
  const says = `the process that started last ${follows}, but MARKET here is ${namesOf(market)}`
  return warning("market", says, "set the same MARKET for every process of this database and for this command")
}

const namesOf = (market: readonly MarketStorefront[]) =>
  market.map(({ storefront }) => storefront).join(", ") || "empty"

function settingOf(market: readonly MarketStorefront[]): string {
  const parts = market.map(({ storefront, genres }) => `${storefront}:${genres.join("+")}`)
  return parts.sort().join(",")
}

function unread({ market }: Settings) {
  return market.map(({ storefront, genres }) => ({ storefront, lists: 4 * genres.length, read: 0, apps: 0 }))
}

function planned({ market, measuring }: Settings, plan: MarketPlan): Finding {
  const off = MARKET_SOURCES.filter((source) => measuring.sourcesOff.includes(source))
  const says = wordsOf(market, plan, measuring)
  if (off.length > 0)
    return warning(
      "market",
      `${says}; ${off.join(", ")} is off`,
      `remove ${off.join(" and ")} from SOURCES_OFF, or leave MARKET empty`,
    )
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
  const assumed = plan.unread > 0 ? `, assuming 100 apps on each of ${plan.unread} lists that were not read yet` : ""
  const most = plan.unread > 0 ? ` (${plan.mostRequests} if each of these lists has ${CHART_DEPTH} apps)` : ""
  const reads = `${plan.lists} lists and ${plan.lookUps} look-ups of ${plan.apps} apps a day${assumed}`
  return `${namesOf(market)}: ${reads}; ${plan.requests} requests a day${most}, ${share}`
}
