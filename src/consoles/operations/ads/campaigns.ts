import * as v from "valibot"
import { ofApp, operation } from "../../../core/operation.ts"
import { Country } from "../../../lib/fields.ts"
import { described, named } from "../../../lib/schema.ts"
import { readAppCampaigns } from "../../ads/read/campaigns.ts"
import { Money } from "../account-shapes.ts"
import { adsSource, dayFields, findAdsScope, Metrics, shareOf, shownDays, windowFields } from "./ads-shapes.ts"

const Campaign = named(
  "AdsCampaign",
  v.strictObject({
    id: v.string(),
    name: v.string(),
    status: described(v.string(), "ENABLED or PAUSED, as configured."),
    serving: described(
      v.strictObject({ status: v.nullable(v.string()), reasons: v.array(v.string()) }),
      "Serving status in Apple's terms. status is null if unknown.",
    ),
    countries: described(v.array(v.string()), "Storefronts of the campaign."),
    budget: described(v.nullable(Money), "Daily budget. Null if none is set."),
    bidStrategy: described(v.nullable(v.string()), "MANUAL_CPT or MAX_CONVERSIONS. Null if unknown."),
    placement: described(v.nullable(v.string()), "Placement, in Apple's terms. Null if unknown."),
    metrics: described(v.nullable(Metrics), "Sums over the reported days. Null if no day is known."),
    share: described(
      v.nullable(v.number()),
      "Share of the app's spend, 0 to 1. Null if nothing was spent, or if the spend is unknown.",
    ),
  }),
)

export const listCampaigns = operation({
  id: "list_campaigns",
  method: "GET",
  path: "/apps/:appId/campaigns",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Lists the app's ad campaigns with state, budget, and 28 days of cost and installs.",
  description:
    "Figures of the connected Apple Ads account, matched by the app's store id, highest spend first. Maps " +
    "campaigns are excluded. Amounts are in the account's currency.",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({ country: described(v.optional(Country), "Only figures of this storefront. Default: all.") }),
  narrow: { rows: ["campaigns"] },
  table: "campaigns",
  output: v.strictObject({
    ...windowFields,
    ...dayFields,
    country: described(v.nullable(v.string()), "The requested storefront. Null for all."),
    campaigns: v.array(Campaign),
    totals: described(Metrics, "Sums over all campaigns on the reported days."),
  }),
}).run(async ({ app, country }, ctx) => {
  const { account, scope } = await findAdsScope(app, { country }, ctx)
  const { standing, rows: campaigns, total: totals } = await readAppCampaigns(ctx.sql, scope)
  return {
    dayZone: scope.zone,
    from: scope.from,
    to: scope.to,
    country: scope.country,
    sources: [adsSource(account, ["campaigns", "days"], standing.asOf)],
    ...shownDays(scope, standing),
    campaigns: campaigns.map((campaign) => ({
      ...campaign,
      share: campaign.metrics && shareOf(campaign.metrics, totals),
    })),
    totals,
  }
})
