import type { Fragment } from "postgres"
import * as v from "valibot"
import { ofApp, operation } from "../../../core/operation.ts"
import { type OrganicRank, organicRank } from "../../../keywords/read/organic.ts"
import { addDays } from "../../../lib/days.ts"
import { Country, wholeNumber } from "../../../lib/fields.ts"
import { described, named } from "../../../lib/schema.ts"
import { Count } from "../../../tracking/shapes.ts"
import { WINDOW_DAYS } from "../../ads/days.ts"
import { readAdsTerms } from "../../ads/read/terms.ts"
import {
  adsSource,
  CampaignId,
  findAdsScope,
  Metrics,
  Organic,
  shareOf,
  shownOrganic,
  unread,
  windowFields,
} from "./ads-shapes.ts"

const Term = named(
  "AdsSearchTerm",
  v.strictObject({
    term: described(v.nullable(v.string()), "The search term. Null if undisclosed."),
    undisclosed: described(
      v.boolean(),
      "True for terms that Apple withholds: one row sums up all of them for a keyword, so that totals are " +
        "complete. The row does not mean that people searched for the keyword.",
    ),
    source: described(
      v.string(),
      "TARGETED: matched by a keyword; AUTO: matched automatically; SEARCH: as reported by Apple; UNDISCLOSED: " +
        "the part of the campaign's total that is in no row of Apple's report.",
    ),
    campaign: v.strictObject({ id: v.string(), name: v.string() }),
    groupId: described(
      v.nullable(v.string()),
      "The ad group. Null for the part of a campaign's total that is in no row of Apple's report.",
    ),
    keyword: described(
      v.nullable(v.strictObject({ id: v.string(), text: v.nullable(v.string()), match: v.nullable(v.string()) })),
      "The bid keyword. Null if matched automatically.",
    ),
    metrics: Metrics,
    organic: described(v.nullable(Organic), "Organic rank of the app. Null if undisclosed."),
  }),
)

export const listAdsSearchTerms = operation({
  id: "list_ads_search_terms",
  method: "GET",
  path: "/apps/:appId/ads-search-terms",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Lists the search terms that led to ad impressions in the last 28 days, by spend, with the organic rank.",
  description:
    "Figures of the connected Apple Ads account. Apple withholds rare terms; they appear as one undisclosed row " +
    "per keyword and count in every total.",
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
    limit: v.optional(wholeNumber(1, 1_000, "Maximum number of rows."), 100),
  }),
  narrow: { rows: ["terms"] },
  table: "terms",
  output: v.strictObject({
    ...windowFields,
    country: described(v.nullable(v.string()), "The requested storefront. Null for all."),
    terms: described(v.array(Term), "Highest spend first."),
    omitted: described(Count, "Number of rows beyond limit. Totals include them."),
    unreadCampaigns: described(v.array(v.string()), "Campaigns whose terms were not read yet. No total includes them."),
    totals: Metrics,
    undisclosed: described(Metrics, "The part of the totals that Apple withholds."),
    undisclosedShare: described(
      v.nullable(v.number()),
      "Share of the spend that Apple withholds, 0 to 1. Null if nothing was spent.",
    ),
  }),
}).run(async ({ app, storefront, country, campaign, limit }, ctx) => {
  const { sql } = ctx
  const { account, scope } = await findAdsScope(app, { country, campaign }, ctx)
  const place = { appId: app.id, storeAppId: app.iosApp, storefront }
  const rankOf = (term: Fragment) => organicRank(sql, place, term)
  const typed = await readAdsTerms<OrganicRank>(sql, scope, { limit, rankOf })
  const { rows, count, total, undisclosed, to, unread: unreadCampaigns, asOf } = typed
  if (to === null && unreadCampaigns.length > 0) throw unread(account, ["terms"], "search terms")
  const last = to ?? scope.to
  return {
    dayZone: scope.zone,
    from: addDays(last, 1 - WINDOW_DAYS),
    to: last,
    country: scope.country,
    sources: [adsSource(account, ["terms"], asOf)],
    terms: rows.map(({ rank, ...row }) => ({
      ...row,
      undisclosed: row.term === null,
      organic: row.term === null ? null : shownOrganic(storefront, rank),
    })),
    omitted: count - rows.length,
    unreadCampaigns,
    totals: total,
    undisclosed,
    undisclosedShare: shareOf(undisclosed, total),
  }
})
