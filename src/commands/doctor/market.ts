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

const NOTHING = ok("market", "MARKET is empty: no storefront is followed, 0 requests a day")

async function lookAt(sql: Sql, settings: Settings): Promise<Finding> {
  const [followed, { market }] = [await readFollowedMarket(sql), settings]
  if (market.length === 0 && followed.length === 0) return NOTHING
  // before the first start with a MARKET nothing is followed yet
  if (followed.length === 0 || settingOf(followed) === settingOf(market))
    return planned(settings, marketPlanOf(await countFollowedLists(sql, market)))
  const { requests } = marketPlanOf(await countFollowedLists(sql, followed))
  const says = `the process that started last follows ${namesOf(followed)}, ${requests} requests a day; MARKET here is ${namesOf(market)}`
  return warning("market", says, "give every process of this database, and this command, the same MARKET")
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
  if (off.length > 0) return warning("market", `${says}; of ${off.join(", ")} nothing is asked`, `take ${off.join(" and ")} out of SOURCES_OFF, or set MARKET to nothing`) // biome-ignore format: one line
  if (plan.mostRequests <= canOf(measuring)) return ok("market", says)
  return warning("market", says, "follow fewer storefronts, or fewer genres of them: MARKET=us:36+6014")
}

function canOf(measuring: Settings["measuring"]): number {
  const gapMs = measuredBy(measuring).gapsMs.get(MARKET_UPSTREAM) ?? 0
  return Math.floor(DAY_MS / Math.max(1, gapMs))
}

function wordsOf(market: readonly MarketStorefront[], plan: MarketPlan, measuring: Settings["measuring"]): string {
  const can = canOf(measuring)
  const share = `${Math.ceil((plan.requests / can) * 1_000) / 10} % of the ${can} that may be asked of ${MARKET_UPSTREAM}`
  const reckoned =
    plan.unread > 0 ? `, reckoned by 100 apps on each of ${plan.unread} lists that were not read yet` : ""
  const most = plan.unread > 0 ? ` (${plan.mostRequests} if each of those shows ${CHART_DEPTH})` : ""
  return `${namesOf(market)}: ${plan.lists} lists and ${plan.lookUps} look-ups of ${plan.apps} apps a day${reckoned}; ${plan.requests} requests a day${most}, ${share}`
}
