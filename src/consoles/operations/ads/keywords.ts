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
    own: described(v.boolean(), "False = the ad group's, which counts for a keyword without one."),
  }),
)

const Keyword = named(
  "AdsKeyword",
  v.strictObject({
    id: v.string(),
    text: described(v.nullable(v.string()), "Null = deleted before it was ever read; what it cost stands."),
    match: described(v.nullable(v.string()), "EXACT or BROAD."),
    status: described(v.string(), "ENABLED or PAUSED, or DELETED for one that is not listed any more."),
    campaign: v.strictObject({ id: v.string(), name: v.string() }),
    group: v.strictObject({ id: v.string(), name: v.nullable(v.string()) }),
    bid: described(v.nullable(Bid), "The most that is paid for a tap; null = not known."),
    metrics: Metrics,
    organic: described(v.nullable(Organic), "Where the app stands unpaid; null where the text is not known."),
  }),
)

export const listAdsKeywords = operation({
  id: "list_ads_keywords",
  method: "GET",
  path: "/apps/:appId/ads-keywords",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Keywords bought over all campaigns in the last 28 days, by spend, with the unpaid rank beside.",
  description:
    "From the connected Apple Ads account. What Apple matches by itself is of no keyword: keywords may cost less than their campaigns (campaignTotals).",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    country: described(
      v.optional(Country),
      "Figures of this storefront alone, and unpaid ranks there; figures of all, and ranks of the app's first, when left out.",
    ),
    campaign: v.optional(CampaignId),
    limit: v.optional(wholeNumber(1, 1_000, "Keywords answered at most."), 100),
  }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    ...windowFields,
    ...dayFields,
    country: described(v.nullable(v.string()), "As asked; null = all storefronts."),
    keywords: described(v.array(Keyword), "The most spent on first."),
    omitted: described(Count, "Keywords beyond limit; totals are of all."),
    totals: described(Metrics, "Of all keywords."),
    campaignTotals: described(Metrics, "Of the campaigns, with what Apple matched by itself."),
  }),
}).run(async ({ app, storefront, country, campaign, limit }, ctx) => {
  const { sql } = ctx
  const { account, scope } = await findAdsScope(app, { country, campaign }, ctx)
  const place = { appId: app.id, own: app.iosApp, storefront }
  const besideOf = (text: Fragment) => organicRank(sql, place, text)
  const { standing, ...bought } = await readAdsKeywords<OrganicRank>(sql, scope, { limit, besideOf })
  if (standing.asOf === null && standing.reported.length === 0)
    throw unread(account, TASKS, "keywords and what they cost")
  return {
    ...{ dayZone: scope.zone, from: scope.from, to: scope.to, country: scope.country },
    sources: [adsSource(account, TASKS, standing.asOf)],
    ...shownDays(scope, standing),
    keywords: bought.rows.map(({ beside, ...one }) => {
      return { ...one, organic: one.text === null ? null : shownOrganic(storefront, beside) }
    }),
    omitted: bought.count - bought.rows.length,
    totals: bought.total,
    campaignTotals: bought.campaigns,
  }
})
