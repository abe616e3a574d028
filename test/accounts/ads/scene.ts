import { type AccountRow, addAccount, type Register } from "../../../src/accounts/register.ts"
import type { Sql } from "../../../src/database/types.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { sealer } from "../../delivery/scene.ts"
import { type House, openHouse } from "../../house.ts"
import { reachOf, TEA } from "../scene.ts"
import { type AdAccount, type AdsStandIn, adsStandIn, type MadeAdsKey } from "./stand-in.ts"

export const AD_ACCOUNT: AdAccount = {
  id: 123456789,
  name: "Tea House",
  orgId: 40669820,
  roles: ["API Account Manager"],
  timezone: "Europe/Berlin",
  currency: "EUR",
}

export interface AdsScene {
  sql: Sql
  house: House
  there: AdsStandIn
  register: Register
  workspaceId: number
  appId: string
  at: { now: Date }
  add(options?: { key?: MadeAdsKey; part?: string | null }): Promise<AccountRow>
}

/** A workspace that tracks Tea Timer, and an ad account with one campaign of it. */
export async function adsScene(sql: Sql, now = new Date()): Promise<AdsScene> {
  const there = adsStandIn()
  there.accounts.push({ ...AD_ACCOUNT })
  there.campaigns.push(campaign())
  const at = { now }
  const house = openHouse({ sql, now: () => at.now })
  const workspaceId = await house.workspace()
  const tracked = { name: TEA.name, iosId: TEA.id, countries: ["de", "us"], keywords: ["tea"], origin: "own" as const }
  const appId = await sql.begin((tx) => trackApp(tx, { workspaceId, ...tracked }))
  const register: Register = { sql, sealer, reach: reachOf(there.url) }
  const add: AdsScene["add"] = ({ key = there.key(), part = null } = {}) => {
    const { pem: privateKey, ...ids } = key
    return addAccount(register, workspaceId, { kind: "apple-ads", key: { ...ids, privateKey }, part })
  }
  return { sql, house, there, register, workspaceId, appId, at, add }
}

/** As the platform says it. */
export function campaign(rest: object = {}) {
  return {
    ...{ id: 444555666, adAccountId: AD_ACCOUNT.id, name: "Tea, Germany", status: "ENABLED", deleted: false },
    ...{ promotedObjectType: "APPSTORE_APP", promotedObjectId: TEA.id, supplyPlacement: "APPSTORE_SEARCH_RESULTS" },
    ...{ systemStatus: "RUNNING", systemStatusReasons: [], displayStatus: "RUNNING", bidStrategy: "MANUAL_CPT" },
    dailyBudget: { value: { amount: "20", currency: AD_ACCOUNT.currency } },
    targeting: { countryOrRegion: { include: ["DE", "US"] } },
    ...{ startTime: "2026-01-05T09:00:00.000", creationTime: "2026-01-05T08:00:00.000", ...rest },
  }
}
