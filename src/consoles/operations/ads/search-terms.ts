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
    term: described(v.nullable(v.string()), "What people typed; null where undisclosed."),
    undisclosed: described(
      v.boolean(),
      "Terms that Apple withholds: one row for all of a keyword's, so that nothing is missing from the totals. The keyword is not the term.",
    ),
    source: described(
      v.string(),
      "TARGETED: a keyword matched; AUTO: Apple matched by itself; SEARCH, in Apple's words; UNDISCLOSED: what Apple counts in the campaign's total and shows in no row.",
    ),
    campaign: v.strictObject({ id: v.string(), name: v.string() }),
    groupId: described(
      v.nullable(v.string()),
      "The ad group; null = the rest of a campaign, which Apple shows in no row.",
    ),
    keyword: described(
      v.nullable(v.strictObject({ id: v.string(), text: v.nullable(v.string()), match: v.nullable(v.string()) })),
      "What was bought; null = Apple matched by itself.",
    ),
    metrics: Metrics,
    organic: described(v.nullable(Organic), "Where the app stands unpaid; null where undisclosed."),
  }),
)

export const listAdsSearchTerms = operation({
  id: "list_ads_search_terms",
  method: "GET",
  path: "/apps/:appId/ads-search-terms",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "What people typed when the ads were shown in the last 28 days, by spend, with the unpaid rank beside.",
  description:
    "From the connected Apple Ads account. Apple withholds rare terms; they stand as undisclosed rows, one a keyword, and count in every total.",
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
    limit: v.optional(wholeNumber(1, 1_000, "Rows answered at most."), 100),
  }),
  narrow: { rows: ["terms"] },
  table: "terms",
  output: v.strictObject({
    ...windowFields,
    country: described(v.nullable(v.string()), "As asked; null = all storefronts."),
    terms: described(v.array(Term), "The most spent on first."),
    omitted: described(Count, "Rows beyond limit; totals are of all."),
    unreadCampaigns: described(v.array(v.string()), "Campaigns whose terms are not known yet: they are in no total."),
    totals: Metrics,
    undisclosed: described(Metrics, "Of the totals, what is withheld."),
    undisclosedShare: described(v.nullable(v.number()), "Of the spend, 0 to 1; null = nothing was spent."),
  }),
}).run(async ({ app, storefront, country, campaign, limit }, ctx) => {
  const { sql } = ctx
  const { account, scope } = await findAdsScope(app, { country, campaign }, ctx)
  const place = { appId: app.id, own: app.iosApp, storefront }
  const besideOf = (term: Fragment) => organicRank(sql, place, term)
  const typed = await readAdsTerms<OrganicRank>(sql, scope, { limit, besideOf })
  const { rows, count, total, undisclosed, to, unread: unreadCampaigns, asOf } = typed
  if (to === null && unreadCampaigns.length > 0) throw unread(account, ["terms"], "search terms")
  const last = to ?? scope.to
  return {
    ...{ dayZone: scope.zone, from: addDays(last, 1 - WINDOW_DAYS), to: last, country: scope.country },
    sources: [adsSource(account, ["terms"], asOf)],
    terms: rows.map(({ beside, ...row }) => ({
      ...row,
      undisclosed: row.term === null,
      organic: row.term === null ? null : shownOrganic(storefront, beside),
    })),
    omitted: count - rows.length,
    unreadCampaigns,
    totals: total,
    undisclosed,
    undisclosedShare: shareOf(undisclosed, total),
  }
})
