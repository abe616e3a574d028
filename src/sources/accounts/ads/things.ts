import type {
  AdsCampaignsObservation,
  AdsKeywordsObservation,
  CampaignRow,
  ThingRow,
} from "../../../observations/kinds/ads-things.ts"
import { dayOf } from "../../../vocabulary/days.ts"
import type { About } from "../../source.ts"
import { idIn, idOrNothing, moneyIn, type PlatformRow, termIn, within, wordIn } from "./said.ts"

/** Raised whenever things are read otherwise. */
const PARSER = 1
const HEAD = { platform: "ios", parser: PARSER, origin: "own" } as const

/** Campaigns of apps; one of Maps that is listed all the same is none of ours. Throws ReadFailure. */
export function campaignsIn(
  rows: readonly PlatformRow[],
  account: string,
  { seenAt, sha256 }: About,
): AdsCampaignsObservation {
  const ours = rows.filter(
    ({ promotedObjectType, deleted }) => promotedObjectType === "APPSTORE_APP" && deleted !== true,
  )
  return {
    ...HEAD,
    ...{ kind: "ads_campaigns", source: "apple-ads-campaigns", account, day: dayOf(seenAt), seenAt, sha256 },
    rows: ours.map(campaignRow).sort(byId),
  } as AdsCampaignsObservation
}

function campaignRow(row: PlatformRow): CampaignRow {
  const targeting = within(row, "targeting")
  const budget = moneyIn(within(row, "dailyBudget"), "value")
  return {
    ...{ id: idIn(row, "id"), app: idIn(row, "promotedObjectId"), name: wordIn(row, "name") ?? idIn(row, "id") },
    status: wordIn(row, "status") ?? "UNKNOWN",
    reasons: wordsIn(row, "systemStatusReasons").concat(wordsIn(row, "systemStatusLimitingReasons")),
    countries: wordsIn(within(targeting, "countryOrRegion"), "include")
      .map((code) => code.toLowerCase())
      .filter((code) => /^[a-z]{2}$/.test(code))
      .sort(),
    ...(budget && { budget: budget.amount, currency: budget.currency }),
    ...said({
      serving: wordIn(row, "systemStatus"),
      bidding: wordIn(row, "bidStrategy") ?? wordIn(within(row, "bidStrategy"), "bidStrategyType"),
      placement: wordIn(row, "supplyPlacement") ?? wordsIn(within(targeting, "supplyPlacement"), "include").join(", "),
    }),
  }
}

/** All that one campaign bids on. Throws ReadFailure. */
export function thingsIn(
  { groups, keywords, negatives }: Record<"groups" | "keywords" | "negatives", readonly PlatformRow[]>,
  { account, campaign }: { account: string; campaign: string },
  { seenAt, sha256 }: About,
): AdsKeywordsObservation {
  const standing = (rows: readonly PlatformRow[]) => rows.filter(({ deleted }) => deleted !== true)
  const rows = [
    ...standing(groups).map(groupRow).sort(byId),
    ...standing(keywords)
      .map((row) => keywordRow("keyword", row))
      .sort(byId),
    ...standing(negatives)
      .map((row) => keywordRow("negative", row))
      .sort(byId),
  ]
  return {
    ...HEAD,
    ...{
      kind: "ads_keywords",
      source: "apple-ads-keywords",
      account,
      campaign,
      day: dayOf(seenAt),
      seenAt,
      sha256,
      rows,
    },
  } as AdsKeywordsObservation
}

function groupRow(row: PlatformRow): ThingRow {
  const bid = moneyIn(within(row, "bidStrategy"), "bid")
  return {
    ...{ thing: "group" as const, id: idIn(row, "id"), status: wordIn(row, "status") ?? "UNKNOWN" },
    ...said({ name: wordIn(row, "name"), bid: bid?.amount, currency: bid?.currency }),
    automatic: row.automatedKeywordsOptIn === true,
  }
}

function keywordRow(thing: "keyword" | "negative", row: PlatformRow): ThingRow {
  const bid = thing === "keyword" ? moneyIn(row, "bid") : undefined
  return {
    ...{ thing, id: idIn(row, "id"), status: wordIn(row, "status") ?? "UNKNOWN" },
    ...said({ group: idOrNothing(row, "adGroupId"), text: termIn(row, "text"), match: wordIn(row, "matchType") }),
    ...said({ bid: bid?.amount, currency: bid?.currency }),
  }
}

function wordsIn(row: PlatformRow, name: string): string[] {
  const list = row[name]
  return Array.isArray(list) ? list.filter((word) => typeof word === "string" && word.trim() !== "") : []
}

/** Without what nobody said. */
function said<Fields extends Record<string, string | undefined>>(fields: Fields): { [Name in keyof Fields]?: string } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "")
  return Object.fromEntries(known) as { [Name in keyof Fields]?: string }
}

/** A list is the same in whatever order it comes. */
function byId(a: { id: string }, b: { id: string }): number {
  return a.id.length - b.id.length || (a.id < b.id ? -1 : 1)
}
