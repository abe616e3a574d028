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
    status: described(v.string(), "ENABLED or PAUSED, as it is set."),
    serving: described(
      v.strictObject({ status: v.nullable(v.string()), reasons: v.array(v.string()) }),
      "What Apple makes of it, in its own words; status null = not said.",
    ),
    countries: described(v.array(v.string()), "Storefronts that it is shown in."),
    budget: described(v.nullable(Money), "A day; null = none is set."),
    bidStrategy: described(v.nullable(v.string()), "MANUAL_CPT or MAX_CONVERSIONS; null = not said."),
    placement: described(v.nullable(v.string()), "Where it is shown, in Apple's words; null = not said."),
    metrics: described(v.nullable(Metrics), "Over the reported days; null = none is known."),
    share: described(v.nullable(v.number()), "Of the app's spend, 0 to 1; null = none was spent, or not known."),
  }),
)

export const listCampaigns = operation({
  id: "list_campaigns",
  method: "GET",
  path: "/apps/:appId/campaigns",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "The app's ad campaigns: state, budget, and 28 days of cost and installs.",
  description:
    "From the connected Apple Ads account, by the app's store id; campaigns of Maps are left out. By spend. Money is in the account's currency.",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({ country: described(v.optional(Country), "Figures of this storefront alone; of all when left out.") }),
  narrow: { rows: ["campaigns"] },
  table: "campaigns",
  output: v.strictObject({
    ...windowFields,
    ...dayFields,
    country: described(v.nullable(v.string()), "As asked; null = all storefronts."),
    campaigns: v.array(Campaign),
    totals: described(Metrics, "Of all campaigns, over the reported days."),
  }),
}).run(async ({ app, country }, ctx) => {
  const { account, scope } = await findAdsScope(app, { country }, ctx)
  const { standing, rows: campaigns, total: totals } = await readAppCampaigns(ctx.sql, scope)
  return {
    ...{ dayZone: scope.zone, from: scope.from, to: scope.to, country: scope.country },
    sources: [adsSource(account, ["campaigns", "days"], standing.asOf)],
    ...shownDays(scope, standing),
    campaigns: campaigns.map((one) => ({ ...one, share: one.metrics && shareOf(one.metrics, totals) })),
    totals,
  }
})
