import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { readAds, storeAds } from "../store/ads.ts"
import { ADS_FACTS } from "../store/derived/ads.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { AdsId, adsShape, Metrics } from "./ads-shape.ts"
import { Name } from "./reports-shape.ts"

export const DayRow = v.strictObject({
  /** The ad group and the keyword. Both are omitted in the row for the campaign as a whole. */
  group: v.optional(AdsId),
  keyword: v.optional(AdsId),
  ...Metrics,
})
export type AdsDayRow = v.InferOutput<typeof DayRow>

const daysShape = v.strictObject({ ...adsShape(DayRow).entries, campaign: AdsId })
export type AdsDaysObservation = Omit<ObservationOf<"ads_days", "apple-ads-days", typeof daysShape>, "storefront">

const HEAD = {
  platform: "ios",
  seenAt: "2025-10-25T03:25:01Z",
  account: "ac_0123456789abcdef01",
  campaign: "444555666",
  day: "2025-10-23",
}
const TAKEN = {
  group: "71",
  keyword: "81",
  country: "de",
  impressions: 120,
  taps: 9,
  installs: 3,
  newDownloads: 3,
  spend: "7.25",
  currency: "EUR",
}

/**
 * Costs and results of a campaign and its keywords on a day in the account's time zone. The installs of a day still
 * grow for a month.
 */
export const adsDays = kind<AdsDaysObservation>({
  name: "ads_days",
  sources: ["apple-ads-days"],
  private: true,
  demo: true,
  everywhere: true,
  shape: daysShape,
  facts: ADS_FACTS.ads_days,
  store: async (tx, seen, _, staged) => ({ placed: await storeAds(tx, "ads_days", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "ads_days", ADS_FACTS.ads_days, placed, staged),
  stored: (sql, range) => readAds<AdsDaysObservation>(sql, "ads_days", range),
  example: { source: "apple-ads-days", ...HEAD, rows: [TAKEN] },
})

export const TermRow = v.strictObject({
  /** Omitted for the part of the campaign's total that is in no row of Apple's report. */
  group: v.optional(AdsId),
  /** Omitted if Apple matched the term automatically. */
  keyword: v.optional(AdsId),
  ...Metrics,
  /** Omitted if Apple withholds the term. */
  term: v.optional(Name),
  /** AUTO, TARGETED or SEARCH; UNDISCLOSED for the part of the campaign's total that is in no row of Apple's report. */
  source: Name,
})
export type AdsTermRow = v.InferOutput<typeof TermRow>

const termsShape = v.strictObject({ ...adsShape(TermRow).entries, campaign: AdsId })
export type AdsTermsObservation = Omit<ObservationOf<"ads_terms", "apple-ads-terms", typeof termsShape>, "storefront">

/** The search terms for which a campaign was shown, over the 28 days that end with `day`. Includes withheld terms. */
export const adsTerms = kind<AdsTermsObservation>({
  name: "ads_terms",
  sources: ["apple-ads-terms"],
  private: true,
  demo: true,
  everywhere: true,
  shape: termsShape,
  facts: ADS_FACTS.ads_terms,
  store: async (tx, seen, _, staged) => ({ placed: await storeAds(tx, "ads_terms", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "ads_terms", ADS_FACTS.ads_terms, placed, staged),
  stored: (sql, range) => readAds<AdsTermsObservation>(sql, "ads_terms", range),
  example: {
    source: "apple-ads-terms",
    ...HEAD,
    rows: [
      { ...TAKEN, term: "tea timer app", source: "TARGETED" },
      { ...TAKEN, source: "TARGETED", taps: 2 },
    ],
  },
})
