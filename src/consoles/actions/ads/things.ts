import type { Port } from "../../../jobs/outside.ts"
import type { PlatformWay } from "../../../lib/accounts/platform.ts"
import { Fault } from "../../../lib/faults.ts"
import { thingsIn } from "../../writing/ads-changes.ts"

/** The part of a campaign that writes need. Leaves out its name, which is text from a third party. */
export interface SeenCampaign {
  id: string
  status: string
  /** Daily budget as decimal text in the account's currency. Null if the campaign has no budget of its own. */
  budget: string | null
  sharedBudget: boolean
  bidStrategy: string
}

export interface SeenKeyword {
  id: string
  adGroupId: string
  status: string
  /** Bid as decimal text. Null if the ad group's bid applies. */
  bid: string | null
  groupBid: string | null
}

export interface AdsPlace {
  appId: string
  campaignId: string
}

/**
 * Opens the account with the app and reads its campaign. Throws not_found when the campaign belongs to another app or
 * does not exist.
 */
export async function openCampaign(
  { appId, campaignId }: AdsPlace,
  { platforms, workspaceId, signal }: Port,
): Promise<{ way: PlatformWay; campaign: SeenCampaign }> {
  const way = await platforms.open("apple-ads", { workspaceId, appId })
  const [resource] = thingsIn(await way.ask({ path: `/v1/campaigns/${campaignId}` }, signal))
  if (!resource || resource.deleted === true || String(resource.promotedObjectId) !== way.app)
    throw new Fault("not_found")
  const shared = resource.sharedBudgets
  return {
    way,
    campaign: {
      id: campaignId,
      status: codeOf(resource.status),
      budget: amountIn((resource.dailyBudget as AdsRecord | undefined)?.value),
      sharedBudget: Array.isArray(shared)
        ? shared.length > 0
        : shared !== undefined && shared !== null && shared !== false,
      bidStrategy: codeOf(resource.bidStrategy),
    },
  }
}

/** Throws not_found when the campaign has no such keyword. */
export async function readKeyword(
  way: PlatformWay,
  { campaignId, keywordId }: { campaignId: string; keywordId: string },
  signal: AbortSignal,
): Promise<SeenKeyword> {
  const [resource] = thingsIn(await way.ask({ path: `/v1/keywords/${keywordId}` }, signal))
  if (!resource || resource.deleted === true || String(resource.campaignId) !== campaignId) throw new Fault("not_found")
  const adGroupId = idOf(resource.adGroupId)
  return {
    id: keywordId,
    adGroupId,
    status: codeOf(resource.status),
    bid: amountIn(resource.bid),
    groupBid: (await readGroup(way, { campaignId, adGroupId }, signal)).bid,
  }
}

/** Throws not_found when the campaign has no such ad group. */
export async function readGroup(
  way: PlatformWay,
  { campaignId, adGroupId }: { campaignId: string; adGroupId: string },
  signal: AbortSignal,
): Promise<{ id: string; bid: string | null }> {
  const [resource] = thingsIn(await way.ask({ path: `/v1/adgroups/${adGroupId}` }, signal))
  if (!resource || resource.deleted === true || String(resource.campaignId) !== campaignId) throw new Fault("not_found")
  return { id: adGroupId, bid: amountIn(resource.bid ?? resource.defaultBid) }
}

type AdsRecord = Record<string, unknown>

/** A filter of a query. */
export const equals = (field: string, value: string) => ({ field, operator: "EQUALS", value })

const PAGE = 1_000
const MAX_PAGES = 10

/** Returns the results of a query, at most 10,000. */
export async function readAll(
  way: PlatformWay,
  list: "adgroups" | "keywords" | "negative-keywords",
  filters: readonly object[],
  signal: AbortSignal,
): Promise<AdsRecord[]> {
  const found: AdsRecord[] = []
  for (let page = 0; page < MAX_PAGES; page++) {
    const pagination = { offset: page * PAGE, pageSize: PAGE }
    const things = thingsIn(await way.ask({ path: `/v1/${list}/query`, body: { filters, pagination } }, signal))
    found.push(...things)
    if (things.length < PAGE) break
  }
  return found
}

/** Returns the highest bid among a campaign's enabled ad groups and keywords. Null if none has a bid. */
export async function readHighestBid(
  way: PlatformWay,
  campaignId: string,
  signal: AbortSignal,
): Promise<number | null> {
  const filters = [equals("campaignId", campaignId)]
  const lists = [await readAll(way, "adgroups", filters, signal), await readAll(way, "keywords", filters, signal)]
  const bids = lists
    .flat()
    .filter(({ status, deleted }) => status === "ENABLED" && deleted !== true)
    .flatMap(({ bid, defaultBid }) => amountIn(bid ?? defaultBid) ?? [])
  return bids.length === 0 ? null : Math.max(...bids.map(Number))
}

/** Returns the amount of {amount, currency} as decimal text. Null if it is missing or invalid. */
export function amountIn(money: unknown): string | null {
  const amount = (money as AdsRecord | undefined | null)?.amount
  return /^\d{1,12}(\.\d{1,6})?$/.test(String(amount)) ? String(amount) : null
}

/** Returns a code such as ENABLED. Returns UNKNOWN for a value of another format. */
export function codeOf(value: unknown): string {
  return typeof value === "string" && /^[A-Z_]{1,60}$/.test(value) ? value : "UNKNOWN"
}

export function idOf(value: unknown): string {
  return /^\d{1,20}$/.test(String(value)) ? String(value) : ""
}
