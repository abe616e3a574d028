import type { Fragment } from "postgres"
import * as v from "valibot"
import { ofApp, operation } from "../../../core/operation.ts"
import { type OrganicRank, organicRank } from "../../../keywords/read/organic.ts"
import { Country, wholeNumber } from "../../../lib/fields.ts"
import { described, extending, named } from "../../../lib/schema.ts"
import { Count } from "../../../tracking/shapes.ts"
import { readAdsKeywords } from "../../ads/read/keywords.ts"
import { Money } from "../account-shapes.ts"
import {
  adsSource,
  CampaignId,
  dayFields,
  findAdsScope,
  Metrics,
  Organic,
  shownDays,
  shownOrganic,
  unread,
  windowFields,
} from "./ads-shapes.ts"

const TASKS = ["keywords", "days"] as const

const Bid = extending(
  Money,
  v.strictObject({
    ...Money.entries,
    own: described(v.boolean(), "False if the bid is the ad group's, which applies to keywords without a bid."),
  }),
)

const Keyword = named(
  "AdsKeyword",
  v.strictObject({
    id: v.string(),
    text: described(v.nullable(v.string()), "Null if the keyword was deleted before its first read; its cost remains."),
    match: described(v.nullable(v.string()), "EXACT or BROAD."),
    status: described(v.string(), "ENABLED, PAUSED, or DELETED if the keyword is no longer listed."),
    campaign: v.strictObject({ id: v.string(), name: v.string() }),
    group: v.strictObject({ id: v.string(), name: v.nullable(v.string()) }),
    bid: described(v.nullable(Bid), "Maximum price per tap. Null if unknown."),
    metrics: Metrics,
    organic: described(v.nullable(Organic), "Organic rank of the app. Null if the text is unknown."),
  }),
)

export const listAdsKeywords = operation({
  id: "list_ads_keywords",
  method: "GET",
  path: "/apps/:appId/ads-keywords",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Lists bid keywords of all campaigns over the last 28 days, by spend, with the organic rank.",
  description:
    "Figures of the connected Apple Ads account. Automatic matches belong to no keyword, so keywords may cost " +
    "less than their campaigns (see campaignTotals).",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    country: described(
      v.optional(Country),
      "Only figures and organic ranks of this storefront. Default: figures of all storefronts, ranks of the app's " +
        "first.",
    ),
    campaign: v.optional(CampaignId),
    limit: v.optional(wholeNumber(1, 1_000, "Maximum number of keywords."), 100),
  }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    ...windowFields,
    ...dayFields,
    country: described(v.nullable(v.string()), "The requested storefront. Null for all."),
    keywords: described(v.array(Keyword), "Highest spend first."),
    omitted: described(Count, "Number of keywords beyond limit. Totals include them."),
    totals: described(Metrics, "Sums over all keywords."),
    campaignTotals: described(Metrics, "Sums over the campaigns, including automatic matches."),
  }),
}).run(async ({ app, storefront, country, campaign, limit }, ctx) => {
  const { sql } = ctx
  const { account, scope } = await findAdsScope(app, { country, campaign }, ctx)
  const place = { appId: app.id, storeAppId: app.iosApp, storefront }
  const rankOf = (text: Fragment) => organicRank(sql, place, text)
  const { standing, ...bought } = await readAdsKeywords<OrganicRank>(sql, scope, { limit, rankOf })
  if (standing.asOf === null && standing.reported.length === 0) throw unread(account, TASKS, "keywords and their costs")
  return {
    dayZone: scope.zone,
    from: scope.from,
    to: scope.to,
    country: scope.country,
    sources: [adsSource(account, TASKS, standing.asOf)],
    ...shownDays(scope, standing),
    keywords: bought.rows.map(({ rank, ...one }) => {
      return { ...one, organic: one.text === null ? null : shownOrganic(storefront, rank) }
    }),
    omitted: bought.count - bought.rows.length,
    totals: bought.total,
    campaignTotals: bought.campaigns,
  }
})
