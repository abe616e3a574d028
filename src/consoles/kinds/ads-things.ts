import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { Flag, list } from "../../core/observation/line-parts.ts"
import { readAds, storeAds } from "../store/ads.ts"
import { ADS_FACTS } from "../store/derived/ads.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { AdsId, adsShape } from "./ads-shape.ts"
import { CountryCode, Currency, Money, Name, Word } from "./reports-shape.ts"

export const CampaignRow = v.strictObject({
  id: AdsId,
  /** The store's id of the app. */
  app: AdsId,
  name: Name,
  /** ENABLED or PAUSED. */
  status: Name,
  /** The platform's serving status, and the reasons for it. */
  serving: Word,
  reasons: list(Name),
  countries: list(CountryCode),
  /** Budget per day. Omitted if none is set. */
  budget: v.optional(Money),
  currency: v.optional(Currency),
  bidding: Word,
  placement: Word,
})
export type CampaignRow = v.InferOutput<typeof CampaignRow>

const campaignsShape = adsShape(CampaignRow)
export type AdsCampaignsObservation = Omit<
  ObservationOf<"ads_campaigns", "apple-ads-campaigns", typeof campaignsShape>,
  "storefront"
>

const HEAD = { platform: "ios", seenAt: "2025-10-25T03:25:01Z", account: "ac_0123456789abcdef01", day: "2025-10-24" }

/** Every campaign of an ad account that advertises an app and is not deleted. */
export const adsCampaigns = kind<AdsCampaignsObservation>({
  name: "ads_campaigns",
  sources: ["apple-ads-campaigns"],
  private: true,
  demo: true,
  everywhere: true,
  shape: campaignsShape,
  facts: ADS_FACTS.ads_campaigns,
  store: async (tx, seen, _, staged) => ({ placed: await storeAds(tx, "ads_campaigns", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "ads_campaigns", ADS_FACTS.ads_campaigns, placed, staged),
  stored: (sql, range) => readAds<AdsCampaignsObservation>(sql, "ads_campaigns", range),
  example: {
    source: "apple-ads-campaigns",
    ...HEAD,
    rows: [
      {
        id: "444555666",
        app: "310633997",
        name: "Tea, Germany",
        status: "ENABLED",
        serving: "RUNNING",
        reasons: [],
        countries: ["de"],
        budget: "20",
        currency: "EUR",
        bidding: "MANUAL_CPT",
      },
    ],
  },
})

export const ThingRow = v.strictObject({
  thing: v.picklist(["group", "keyword", "negative"], "must be group, keyword or negative"),
  id: AdsId,
  /** Omitted for an ad group, and for a negative keyword of the campaign itself. */
  group: v.optional(AdsId),
  name: v.optional(Name),
  text: v.optional(Name),
  /** EXACT or BROAD. */
  match: Word,
  status: Name,
  /** Bid. Omitted if none is set: a keyword then uses its ad group's bid. */
  bid: v.optional(Money),
  currency: v.optional(Currency),
  /** Only for ad groups: true if Apple matches searches automatically. */
  automatic: v.optional(Flag),
})
export type ThingRow = v.InferOutput<typeof ThingRow>

const thingsShape = v.strictObject({ ...adsShape(ThingRow).entries, campaign: AdsId })
export type AdsKeywordsObservation = Omit<
  ObservationOf<"ads_keywords", "apple-ads-keywords", typeof thingsShape>,
  "storefront"
>

/** The ad groups, keywords and negative keywords of a campaign, except deleted ones. */
export const adsKeywords = kind<AdsKeywordsObservation>({
  name: "ads_keywords",
  sources: ["apple-ads-keywords"],
  private: true,
  demo: true,
  everywhere: true,
  shape: thingsShape,
  facts: ADS_FACTS.ads_keywords,
  store: async (tx, seen, _, staged) => ({ placed: await storeAds(tx, "ads_keywords", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "ads_keywords", ADS_FACTS.ads_keywords, placed, staged),
  stored: (sql, range) => readAds<AdsKeywordsObservation>(sql, "ads_keywords", range),
  example: {
    source: "apple-ads-keywords",
    ...HEAD,
    campaign: "444555666",
    rows: [
      { thing: "group", id: "71", name: "Brand", status: "ENABLED", bid: "0.80", currency: "EUR", automatic: true },
      { thing: "keyword", id: "81", group: "71", text: "tea timer", match: "EXACT", status: "ENABLED", bid: "1.20" },
      { thing: "negative", id: "91", text: "coffee", match: "BROAD", status: "ENABLED" },
    ],
  },
})
