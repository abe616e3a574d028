import type { AnyKind } from "./kind.ts"
import { adsChanges, adsPopularity } from "./kinds/ads-insights.ts"
import { adsDays, adsTerms } from "./kinds/ads-metrics.ts"
import { adsCampaigns, adsKeywords } from "./kinds/ads-things.ts"
import { downloads, engagement } from "./kinds/analytics.ts"
import { appAds } from "./kinds/app-ads.ts"
import { apps } from "./kinds/apps.ts"
import { assistantAnswer } from "./kinds/assistant-answer.ts"
import { billingEvent } from "./kinds/billing.ts"
import { billingMetrics } from "./kinds/billing-metrics.ts"
import { chart } from "./kinds/chart.ts"
import { developer } from "./kinds/developer.ts"
import { genres } from "./kinds/genres.ts"
import { hints } from "./kinds/hints.ts"
import { listing } from "./kinds/listing.ts"
import { popularity } from "./kinds/popularity.ts"
import { prices } from "./kinds/prices.ts"
import { reviews } from "./kinds/reviews.ts"
import { sales } from "./kinds/sales.ts"
import { search } from "./kinds/search.ts"
import { offerRedemptions, subscriptionEvents, subscriptions } from "./kinds/subscriptions.ts"

/** All that is observed. Rows are written kind by kind in this order, so that nobody waits in a circle. */
export const KINDS: readonly AnyKind[] = [
  search, apps, chart, hints, reviews, listing, genres, developer, appAds, popularity,
  sales, subscriptions, subscriptionEvents, offerRedemptions, engagement, downloads, prices,
  adsCampaigns, adsKeywords, adsDays, adsTerms, adsChanges, adsPopularity, billingEvent, billingMetrics, assistantAnswer,
] // biome-ignore format: a list to scan

export function kindNamed(name: unknown, kinds: readonly AnyKind[] = KINDS): AnyKind | undefined {
  return kinds.find((kind) => kind.name === name)
}
