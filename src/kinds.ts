import { chart } from "./charts/kinds/chart.ts"
import { adsChanges, adsPopularity } from "./consoles/kinds/ads-insights.ts"
import { adsDays, adsTerms } from "./consoles/kinds/ads-metrics.ts"
import { adsCampaigns, adsKeywords } from "./consoles/kinds/ads-things.ts"
import { downloads, engagement } from "./consoles/kinds/analytics.ts"
import { billingEvent } from "./consoles/kinds/billing.ts"
import { billingMetrics } from "./consoles/kinds/billing-metrics.ts"
import { prices } from "./consoles/kinds/prices.ts"
import { sales } from "./consoles/kinds/sales.ts"
import { offerRedemptions, subscriptionEvents, subscriptions } from "./consoles/kinds/subscriptions.ts"
import type { AnyKind } from "./core/kind.ts"
import { hints } from "./keywords/kinds/hints.ts"
import { popularity } from "./keywords/kinds/popularity.ts"
import { search } from "./keywords/kinds/search.ts"
import { appAds } from "./listings/kinds/app-ads.ts"
import { listing } from "./listings/kinds/listing.ts"
import { reviews } from "./reviews/kinds/reviews.ts"
import { apps } from "./stores/kinds/apps.ts"
import { developer } from "./stores/kinds/developer.ts"
import { genres } from "./stores/kinds/genres.ts"
import { assistantAnswer } from "./visibility/kinds/assistant-answer.ts"

/** All that is observed. Rows are written kind by kind in this order, so that nobody waits in a circle. */
export const KINDS: readonly AnyKind[] = [
  search, apps, chart, hints, reviews, listing, genres, developer, appAds, popularity,
  sales, subscriptions, subscriptionEvents, offerRedemptions, engagement, downloads, prices,
  adsCampaigns, adsKeywords, adsDays, adsTerms, adsChanges, adsPopularity, billingEvent, billingMetrics, assistantAnswer,
] // biome-ignore format: a list to scan

export function kindNamed(name: unknown, kinds: readonly AnyKind[] = KINDS): AnyKind | undefined {
  return kinds.find((kind) => kind.name === name)
}
