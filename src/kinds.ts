import { chart } from "./charts/kinds/chart.ts"
import { adsChanges, adsPopularity } from "./consoles/kinds/ads-insights.ts"
import { adsDays, adsTerms } from "./consoles/kinds/ads-metrics.ts"
import { adsCampaigns, adsKeywords } from "./consoles/kinds/ads-things.ts"
import { downloads, engagement } from "./consoles/kinds/analytics.ts"
import { billingEvent } from "./consoles/kinds/billing.ts"
import { billingMetrics } from "./consoles/kinds/billing-metrics.ts"
import { consoleReviews } from "./consoles/kinds/console-reviews.ts"
import {
  playCrashes,
  playEarnings,
  playInstalls,
  playInstallsCountry,
  playRatings,
  playRatingsCountry,
  playSales,
  playStoreCountry,
  playStoreSources,
} from "./consoles/kinds/play.ts"
import { prices } from "./consoles/kinds/prices.ts"
import { sales } from "./consoles/kinds/sales.ts"
import { offerRedemptions, subscriptionEvents, subscriptions } from "./consoles/kinds/subscriptions.ts"
import { type AnyKind, kindEntry, type SeenBy } from "./core/kind.ts"
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

/**
 * Name of each kind of observation, its declaration, and who owns its data. The compiler checks each line. Rows are
 * written kind by kind in this order, which prevents deadlocks.
 */
const kinds = [
  kindEntry("search", search, "everyone"),
  kindEntry("apps", apps, "everyone"),
  kindEntry("chart", chart, "everyone"),
  kindEntry("hints", hints, "everyone"),
  kindEntry("reviews", reviews, "everyone"),
  kindEntry("listing", listing, "everyone"),
  kindEntry("genres", genres, "everyone"),
  kindEntry("developer", developer, "everyone"),
  kindEntry("app_ads", appAds, "everyone"),
  kindEntry("popularity", popularity, "everyone"),
  kindEntry("sales", sales, "workspace"),
  kindEntry("subscriptions", subscriptions, "workspace"),
  kindEntry("subscription_events", subscriptionEvents, "workspace"),
  kindEntry("offer_redemptions", offerRedemptions, "workspace"),
  kindEntry("engagement", engagement, "workspace"),
  kindEntry("downloads", downloads, "workspace"),
  kindEntry("prices", prices, "workspace"),
  kindEntry("console_reviews", consoleReviews, "workspace"),
  kindEntry("ads_campaigns", adsCampaigns, "workspace"),
  kindEntry("ads_keywords", adsKeywords, "workspace"),
  kindEntry("ads_days", adsDays, "workspace"),
  kindEntry("ads_terms", adsTerms, "workspace"),
  kindEntry("ads_changes", adsChanges, "workspace"),
  kindEntry("ads_popularity", adsPopularity, "workspace"),
  kindEntry("play_installs", playInstalls, "workspace"),
  kindEntry("play_installs_country", playInstallsCountry, "workspace"),
  kindEntry("play_store_country", playStoreCountry, "workspace"),
  kindEntry("play_store_sources", playStoreSources, "workspace"),
  kindEntry("play_ratings", playRatings, "workspace"),
  kindEntry("play_ratings_country", playRatingsCountry, "workspace"),
  kindEntry("play_crashes", playCrashes, "workspace"),
  kindEntry("play_earnings", playEarnings, "workspace"),
  kindEntry("play_sales", playSales, "workspace"),
  kindEntry("billing_event", billingEvent, "workspace"),
  kindEntry("billing_metrics", billingMetrics, "workspace"),
  kindEntry("assistant_answer", assistantAnswer, "everyone"),
]

export const KINDS: readonly AnyKind[] = kinds

export type Observation = SeenBy<(typeof kinds)[number]>
