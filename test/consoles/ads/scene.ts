import { lastAdsDay } from "../../../src/consoles/ads/days.ts"
import { type AccountRow, addAccount, type Register } from "../../../src/consoles/register.ts"
import { publishedSunday } from "../../../src/consoles/sources/ads/requests.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays } from "../../../src/lib/days.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { reachOf, TEA } from "../scene.ts"
import { type AdAccount, type AdsStandIn, adsStandIn, type MadeAdsKey } from "./stand-in.ts"

export const AD_ACCOUNT: AdAccount = {
  id: 123456789,
  name: "Tea Service",
  orgId: 40669820,
  roles: ["API Account Manager"],
  timezone: "Europe/Berlin",
  currency: "EUR",
}

export interface AdsScene {
  sql: Sql
  service: Service
  standIn: AdsStandIn
  register: Register
  workspaceId: number
  appId: string
  clock: { now: Date }
  add(options?: { key?: MadeAdsKey; part?: string | null }): Promise<AccountRow>
}

/** A workspace that tracks Tea Timer, and an ad account with one campaign for it. */
export async function adsScene(sql: Sql, now = new Date()): Promise<AdsScene> {
  const standIn = adsStandIn()
  standIn.accounts.push({ ...AD_ACCOUNT })
  standIn.campaigns.push(campaign())
  const clock = { now }
  const service = openService({ sql, now: () => clock.now })
  const workspaceId = await service.workspace()
  const tracked = { name: TEA.name, iosId: TEA.id, countries: ["de", "us"], keywords: ["tea"], origin: "own" as const }
  const appId = await trackOwn(sql, { workspaceId, ...tracked })
  const register: Register = { sql, sealer, reach: reachOf(standIn.url) }
  const add: AdsScene["add"] = ({ key = standIn.key(), part = null } = {}) => {
    const { pem: privateKey, ...ids } = key
    return addAccount(register, workspaceId, { kind: "apple-ads", key: { ...ids, privateKey }, part })
  }
  return { sql, service, standIn, register, workspaceId, appId, clock, add }
}

/** A campaign in the platform's format. */
export function campaign(rest: object = {}) {
  return {
    id: 444555666,
    adAccountId: AD_ACCOUNT.id,
    name: "Tea, Germany",
    status: "ENABLED",
    deleted: false,
    promotedObjectType: "APPSTORE_APP",
    promotedObjectId: TEA.id,
    supplyPlacement: "APPSTORE_SEARCH_RESULTS",
    systemStatus: "RUNNING",
    systemStatusReasons: [],
    displayStatus: "RUNNING",
    bidStrategy: "MANUAL_CPT",
    dailyBudget: { value: { amount: "20", currency: AD_ACCOUNT.currency } },
    targeting: { countryOrRegion: { include: ["DE", "US"] } },
    startTime: "2026-01-05T09:00:00.000",
    creationTime: "2026-01-05T08:00:00.000",
    ...rest,
  }
}

/** Adds an ad group with two keywords, negative keywords, two days, search terms, a change and a week of popularity. */
export function addTeaAdGroup({ standIn }: Pick<AdsScene, "standIn">, now = new Date()): void {
  const [campaignId, adGroupId] = [444555666, 71]
  const last = lastAdsDay(AD_ACCOUNT.timezone, now)
  const euros = (amount: string) => ({ amount, currency: AD_ACCOUNT.currency })
  const ids = { campaignId, adGroupId, adAccountId: AD_ACCOUNT.id, deleted: false, status: "ENABLED" }
  standIn.adgroups.push({
    ...ids,
    id: adGroupId,
    name: "Brand",
    automatedKeywordsOptIn: true,
    bidStrategy: { bidStrategyType: "MANUAL_CPT", bidStrategyGoal: "TAP", bid: euros("0.80") },
  })
  standIn.keywords.push(
    { ...ids, id: 81, text: "Tea Timer", matchType: "EXACT", bid: euros("1.20") },
    { ...ids, id: 82, text: "green tea", matchType: "BROAD", bid: null },
    { ...ids, id: 83, text: "gone", matchType: "BROAD", bid: null, deleted: true },
  )
  standIn.negatives.push(
    { ...ids, id: 91, adGroupId: null, text: "coffee", matchType: "BROAD" },
    { ...ids, id: 92, text: "tea pot", matchType: "EXACT" },
  )
  const fact = { campaignId, adGroupId, countryOrRegion: "DE", date: last }
  standIn.days.push(
    { ...fact, keywordId: 81, spend: "5", impressions: 100, taps: 10, installs: 4 },
    { ...fact, keywordId: 81, date: addDays(last, -1), spend: "4", impressions: 80, taps: 6, installs: 2 },
    { ...fact, keywordId: null, countryOrRegion: "US", spend: "2", impressions: 50, taps: 4, installs: 1 },
  )
  standIn.terms.push(
    {
      ...fact,
      keywordId: 81,
      text: "tea timer",
      source: "TARGETED",
      spend: "5",
      impressions: 100,
      taps: 10,
      installs: 4,
    },
    { ...fact, keywordId: 81, text: null, source: "TARGETED", spend: "4", impressions: 80, taps: 6, installs: 2 },
    {
      ...fact,
      keywordId: null,
      text: null,
      source: "AUTO",
      countryOrRegion: "US",
      spend: "2",
      impressions: 50,
      taps: 4,
      installs: 1,
    },
  )
  standIn.changes.push({
    transactionId: "0eee6ae3",
    entityType: "Keyword",
    entityId: "81",
    eventType: "UPDATE",
    userType: "CUSTOMER",
    eventTime: new Date(now.getTime() - 3_600_000).toISOString(),
    modifiedBy: "11223344",
    meta: { campaignId, adGroupId, text: "tea timer" },
    changes: [{ field: "bid", oldValues: ["1.00"], newValues: ["1.20"] }],
  })
  const week = { week: publishedSunday(now), genre: "FOOD_DRINK", rankInGenre: 1, searchPopularityInGenre: 90 }
  standIn.popularity.push(
    { ...week, countryOrRegion: "DE", searchTerm: "tee", searchPopularity1to100: 74, searchPopularity1to5: 5 },
    { ...week, countryOrRegion: "US", searchTerm: "Tea Timer", searchPopularity1to100: 49, searchPopularity1to5: 3 },
  )
}
