import { chart } from "./charts/kinds/chart.ts"
import type { ChartObservation } from "./charts/kinds/chart-shape.ts"
import type { AdsChangesObservation, AdsPopularityObservation } from "./consoles/kinds/ads-insights.ts"
import { adsChanges, adsPopularity } from "./consoles/kinds/ads-insights.ts"
import type { AdsDaysObservation, AdsTermsObservation } from "./consoles/kinds/ads-metrics.ts"
import { adsDays, adsTerms } from "./consoles/kinds/ads-metrics.ts"
import type { AdsCampaignsObservation, AdsKeywordsObservation } from "./consoles/kinds/ads-things.ts"
import { adsCampaigns, adsKeywords } from "./consoles/kinds/ads-things.ts"
import type { DownloadsObservation, EngagementObservation } from "./consoles/kinds/analytics.ts"
import { downloads, engagement } from "./consoles/kinds/analytics.ts"
import type { BillingObservation } from "./consoles/kinds/billing.ts"
import { billingEvent } from "./consoles/kinds/billing.ts"
import type { BillingMetricsObservation } from "./consoles/kinds/billing-metrics.ts"
import { billingMetrics } from "./consoles/kinds/billing-metrics.ts"
import type { PricesObservation } from "./consoles/kinds/prices.ts"
import { prices } from "./consoles/kinds/prices.ts"
import type { SalesObservation } from "./consoles/kinds/sales.ts"
import { sales } from "./consoles/kinds/sales.ts"
import type {
  OfferRedemptionsObservation,
  SubscriptionEventsObservation,
  SubscriptionsObservation,
} from "./consoles/kinds/subscriptions.ts"
import { offerRedemptions, subscriptionEvents, subscriptions } from "./consoles/kinds/subscriptions.ts"
import type { AnyKind } from "./core/kind.ts"
import type { HintsObservation } from "./keywords/kinds/hints.ts"
import { hints } from "./keywords/kinds/hints.ts"
import type { PopularityObservation } from "./keywords/kinds/popularity.ts"
import { popularity } from "./keywords/kinds/popularity.ts"
import { search } from "./keywords/kinds/search.ts"
import type { SearchObservation } from "./keywords/kinds/search-shape.ts"
import type { AppAdsObservation } from "./listings/kinds/app-ads.ts"
import { appAds } from "./listings/kinds/app-ads.ts"
import { listing } from "./listings/kinds/listing.ts"
import type { ReviewsObservation } from "./reviews/kinds/review-shape.ts"
import { reviews } from "./reviews/kinds/reviews.ts"
import { apps } from "./stores/kinds/apps.ts"
import type { AppsObservation } from "./stores/kinds/apps-shape.ts"
import type { DeveloperAppsObservation } from "./stores/kinds/developer.ts"
import { developer } from "./stores/kinds/developer.ts"
import type { GenresObservation } from "./stores/kinds/genres.ts"
import { genres } from "./stores/kinds/genres.ts"
import type { ListingObservation } from "./stores/kinds/listing-shape.ts"
import type { AssistantAnswerObservation } from "./visibility/kinds/assistant-answer.ts"
import { assistantAnswer } from "./visibility/kinds/assistant-answer.ts"

/** All kinds of observations. Rows are written kind by kind in this order, which prevents deadlocks. */
export const KINDS: readonly AnyKind[] = [
  search,
  apps,
  chart,
  hints,
  reviews,
  listing,
  genres,
  developer,
  appAds,
  popularity,
  sales,
  subscriptions,
  subscriptionEvents,
  offerRedemptions,
  engagement,
  downloads,
  prices,
  adsCampaigns,
  adsKeywords,
  adsDays,
  adsTerms,
  adsChanges,
  adsPopularity,
  billingEvent,
  billingMetrics,
  assistantAnswer,
]

/** Any observation, by its kind. */
export type Observation =
  | SearchObservation
  | AppsObservation
  | HintsObservation
  | PopularityObservation
  | ListingObservation
  | DeveloperAppsObservation
  | ChartObservation
  | GenresObservation
  | ReviewsObservation
  | AppAdsObservation
  | SalesObservation
  | SubscriptionsObservation
  | SubscriptionEventsObservation
  | OfferRedemptionsObservation
  | EngagementObservation
  | DownloadsObservation
  | PricesObservation
  | AdsCampaignsObservation
  | AdsKeywordsObservation
  | AdsDaysObservation
  | AdsTermsObservation
  | AdsChangesObservation
  | AdsPopularityObservation
  | BillingObservation
  | BillingMetricsObservation
  | AssistantAnswerObservation
