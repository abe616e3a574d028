import { addDays, dayOf } from "../../lib/days.ts"
import type { AccountPart } from "../account-kind.ts"
import { type Look, probeRight, type RightState } from "../look.ts"
import {
  type AdsQuery,
  campaignsQuery,
  changesQuery,
  dailyReport,
  popularityQuery,
  publishedSunday,
} from "../sources/ads/requests.ts"
import type { PlatformRow } from "../sources/ads/response-fields.ts"
import type { Ads } from "./client.ts"
import { queryAll } from "./pages.ts"
import { AdsProblem } from "./problem.ts"

const READING_ROLES =
  "a role of the API user with read rights: API Account Manager, API Account Read Only or Limited Access"
const WRITING_ROLES = "the role API Account Manager, or Limited Access: API Read & Write"

interface Acl {
  id: string
  name: string
  roles: string[]
}

/** Returns the ad accounts that the key opens. Throws AdsProblem. */
export async function listAdAccounts(ads: Ads): Promise<AccountPart[]> {
  return (await readAcls(ads)).map(({ id, name }) => ({ id, name }))
}

/**
 * Returns the key's rights in its ad account, and the apps advertised there. Throws AdsProblem when the rights cannot
 * be determined.
 */
export async function lookAtAds(ads: Ads, adAccount: string, now: Date): Promise<Look> {
  // Requests the user first, so that an invalid key fails here.
  await ads.get("/v1/me")
  const acl = (await readAcls(ads)).find(({ id }) => id === adAccount)
  if (!acl) return { rights: [noAccess(adAccount)], apps: [] }
  const campaigns: PlatformRow[] = []
  const probe = (name: string, ask: () => Promise<unknown>) => probeRight({ name, needs: READING_ROLES }, ask)
  const yesterday = addDays(dayOf(now), -1)
  const day = { from: yesterday, to: yesterday }
  const rights = [
    await probe("campaigns", async () => void campaigns.push(...(await readCampaigns(ads)))),
    await probeReports(probe, ads, { campaign: campaigns[0], day }),
    await probe("changes", () => askOne(ads, changesQuery(day))),
    await probe("popularity", () => askOne(ads, popularityQuery("us", publishedSunday(now)))),
    writingRight(acl),
  ]
  const { timezone, currency } = (await ads.get(`/v1/ad-accounts/${adAccount}`)).result as PlatformRow
  return {
    rights,
    apps: appsIn(campaigns),
    ...(typeof timezone === "string" && isZone(timezone) && { zone: timezone }),
    ...(typeof currency === "string" && /^[A-Z]{3}$/.test(currency) && { currency }),
  }
}

function noAccess(adAccount: string): RightState {
  return { name: "campaigns", state: "denied", why: `needs the API user to be invited to the ad account ${adAccount}` }
}

/** Returns campaigns of apps. Leaves out other kinds, such as campaigns in Maps, if any are listed. */
async function readCampaigns(ads: Ads, signal?: AbortSignal): Promise<PlatformRow[]> {
  const { rows } = await queryAll(ads, campaignsQuery(), signal && { signal })
  return rows.filter(({ promotedObjectType }) => promotedObjectType === "APPSTORE_APP")
}

type Probe = (name: string, ask: () => Promise<unknown>) => Promise<RightState>

/** Reports belong to a campaign, so without a campaign this right cannot be tested. */
async function probeReports(
  probe: Probe,
  ads: Ads,
  { campaign, day }: { campaign: PlatformRow | undefined; day: { from: string; to: string } },
): Promise<RightState> {
  if (campaign) return await probe("reports", () => askOne(ads, dailyReport("campaigns", String(campaign.id), day)))
  return { name: "reports", state: "unknown", why: "unknown until the account shows a campaign of an app" }
}

async function askOne(ads: Ads, { path, body }: AdsQuery): Promise<void> {
  await ads.query(path, { ...body, pagination: { offset: 0, pageSize: 1 } })
}

/** Derives the right to write from the role, because a test would change something. */
function writingRight({ roles }: Acl): RightState {
  const words = roles.map((role) => role.replaceAll(/[\s_-]+/g, " ").toLowerCase())
  const writes = words.some((role) => /\b(admin|manager)\b|\bwrite\b/.test(role))
  return { name: "writes", state: writes ? "ok" : "denied", why: writes ? null : `needs ${WRITING_ROLES}` }
}

async function readAcls(ads: Ads): Promise<Acl[]> {
  const { result } = await ads.get("/v1/acls")
  const acls = (result as { acls?: unknown } | null | undefined)?.acls
  if (!Array.isArray(acls)) throw new AdsProblem("unavailable", "the list of ad accounts cannot be read")
  return acls.flatMap(({ adAccount, roles }) => {
    const { id, name } = (adAccount ?? {}) as PlatformRow
    if (!/^\d{1,20}$/.test(String(id))) return []
    const named = Array.isArray(roles) ? roles.filter((role) => typeof role === "string") : []
    return [{ id: String(id), name: typeof name === "string" ? name : String(id), roles: named }]
  })
}

/** Apps are named by their store ids, because campaigns do not include an app's name. */
function appsIn(campaigns: readonly PlatformRow[]) {
  const ids = new Set(campaigns.map(({ promotedObjectId }) => String(promotedObjectId)))
  return [...ids]
    .filter((id) => /^\d{1,20}$/.test(id))
    .sort()
    .map((id) => ({ outsideId: id, sku: id, name: `app ${id}`, bundleId: "" }))
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}
