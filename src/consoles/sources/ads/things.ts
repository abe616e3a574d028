import { dayOf } from "../../../lib/days.ts"
import { cutText } from "../../../lib/text.ts"
import { checkedRow, PutAside } from "../../../measuring/parsing/put-aside.ts"
import { type About, ReadFailure } from "../../../measuring/source.ts"
import {
  type AdsCampaignsObservation,
  type AdsKeywordsObservation,
  CampaignRow,
  ThingRow,
} from "../../kinds/ads-things.ts"
import { MAX_WORD } from "../../kinds/reports-shape.ts"
import { idIn, idOrNothing, moneyIn, type PlatformRow, rowName, termIn, within, wordIn } from "./response-fields.ts"

/** Raise this whenever campaigns, ad groups and keywords are parsed differently. */
const PARSER = 2
const HEAD = { platform: "ios", parser: PARSER, origin: "own" } as const

/**
 * Returns campaigns of apps. Other kinds, such as campaigns in Maps, are left out if the response lists them.
 * Unreadable campaigns are skipped. Throws ReadFailure when no campaign can be read.
 */
export function campaignsIn(
  rows: readonly PlatformRow[],
  account: string,
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): AdsCampaignsObservation {
  const listed = readEach(
    rows.filter(({ deleted, promotedObjectType }) => deleted !== true && promotedObjectType !== "BUSINESS_BRAND"),
    aside,
    (row) => {
      const { promotedObjectType } = row
      if (promotedObjectType === "APPSTORE_APP") return [campaignRow(row)]
      if (promotedObjectType !== undefined) return []
      throw new ReadFailure("changed", "it does not name what it advertises")
    },
  )
  aside.assertSome(listed)
  return {
    ...HEAD,
    kind: "ads_campaigns",
    source: "apple-ads-campaigns",
    account,
    day: dayOf(seenAt),
    seenAt,
    sha256,
    rows: listed.sort(byId),
  } as AdsCampaignsObservation
}

/** Parses each row. Unreadable rows are skipped. */
function readEach<Row>(rows: readonly PlatformRow[], aside: PutAside, read: (row: PlatformRow) => Row[]): Row[] {
  const found: Row[] = []
  aside.each(rows, rowName, (row) => void found.push(...read(row)))
  return found
}

const checkedCampaign = checkedRow<CampaignRow>(CampaignRow)

function campaignRow(row: PlatformRow): CampaignRow {
  const targeting = within(row, "targeting")
  const budget = moneyIn(within(row, "dailyBudget"), "value")
  return checkedCampaign({
    id: idIn(row, "id"),
    app: idIn(row, "promotedObjectId"),
    name: wordIn(row, "name") ?? idIn(row, "id"),
    status: wordIn(row, "status") ?? "UNKNOWN",
    reasons: wordsIn(row, "systemStatusReasons").concat(wordsIn(row, "systemStatusLimitingReasons")),
    countries: wordsIn(within(targeting, "countryOrRegion"), "include")
      .map((code) => code.toLowerCase())
      .filter((code) => /^[a-z]{2}$/.test(code))
      .sort(),
    ...(budget && { budget: budget.amount, currency: budget.currency }),
    ...definedFields({
      serving: wordIn(row, "systemStatus", MAX_WORD),
      bidding: wordIn(row, "bidStrategy", MAX_WORD) ?? wordIn(within(row, "bidStrategy"), "bidStrategyType", MAX_WORD),
      placement:
        wordIn(row, "supplyPlacement", MAX_WORD) ??
        cutText(wordsIn(within(targeting, "supplyPlacement"), "include").join(", "), MAX_WORD),
    }),
  })
}

/**
 * Returns the ad groups, keywords and negative keywords of one campaign. Unreadable ones are skipped. Throws
 * ReadFailure when none can be read.
 */
export function thingsIn(
  { groups, keywords, negatives }: Record<"groups" | "keywords" | "negatives", readonly PlatformRow[]>,
  { account, campaign }: { account: string; campaign: string },
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): AdsKeywordsObservation {
  const listed = (rows: readonly PlatformRow[], read: (row: PlatformRow) => ThingRow) => {
    const standing = rows.filter(({ deleted }) => deleted !== true)
    return readEach(standing, aside, (row) => [checkedThing(read(row))]).sort(byId)
  }
  const rows = [
    ...listed(groups, groupRow),
    ...listed(keywords, (row) => keywordRow("keyword", row)),
    ...listed(negatives, (row) => keywordRow("negative", row)),
  ]
  aside.assertSome(rows)
  return {
    ...HEAD,
    kind: "ads_keywords",
    source: "apple-ads-keywords",
    account,
    campaign,
    day: dayOf(seenAt),
    seenAt,
    sha256,
    rows,
  } as AdsKeywordsObservation
}

const checkedThing = checkedRow<ThingRow>(ThingRow)

function groupRow(row: PlatformRow): ThingRow {
  const bid = moneyIn(within(row, "bidStrategy"), "bid")
  return {
    thing: "group" as const,
    id: idIn(row, "id"),
    status: wordIn(row, "status") ?? "UNKNOWN",
    ...definedFields({ name: wordIn(row, "name"), bid: bid?.amount, currency: bid?.currency }),
    automatic: row.automatedKeywordsOptIn === true,
  }
}

function keywordRow(thing: "keyword" | "negative", row: PlatformRow): ThingRow {
  const bid = thing === "keyword" ? moneyIn(row, "bid") : undefined
  return {
    thing,
    id: idIn(row, "id"),
    status: wordIn(row, "status") ?? "UNKNOWN",
    ...definedFields({
      group: idOrNothing(row, "adGroupId"),
      text: termIn(row, "text"),
      match: wordIn(row, "matchType", MAX_WORD),
    }),
    ...definedFields({ bid: bid?.amount, currency: bid?.currency }),
  }
}

function wordsIn(row: PlatformRow, name: string): string[] {
  const list = row[name]
  return Array.isArray(list) ? list.filter((word) => typeof word === "string" && word.trim() !== "") : []
}

/** Leaves out empty and undefined fields. */
function definedFields<Fields extends Record<string, string | undefined>>(
  fields: Fields,
): { [Name in keyof Fields]?: string } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "")
  return Object.fromEntries(present) as { [Name in keyof Fields]?: string }
}

/** Sorts the rows, so that the same list gives the same digest whatever its order. */
function byId(a: { id: string }, b: { id: string }): number {
  return a.id.length - b.id.length || (a.id < b.id ? -1 : 1)
}

/** Returns the ids of the ad groups whose negative keywords are queried. */
export function negativeGroups(groups: readonly PlatformRow[]): string[] {
  return groups.flatMap((group) => idOrNothing(group, "id") ?? [])
}
