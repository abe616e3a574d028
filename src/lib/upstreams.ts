export const STORE_HOSTS = ["apps.apple.com", "itunes.apple.com", "search.itunes.apple.com", "play.google.com"] as const

/** Upstreams with many hosts: all sites of developers, and all hosts of store pictures. */
const SHARED_LANES = ["developer-sites", "store-pictures"] as const
/** Upstreams that each have a pace. */
export const UPSTREAMS = [...STORE_HOSTS, ...SHARED_LANES] as const
export type Upstream = (typeof UPSTREAMS)[number]

/** App Store Connect. */
export const CONSOLE_HOST = "api.appstoreconnect.apple.com"
/** Apple Ads, and the host that issues its tokens. */
export const ADS_HOST = "api.ads.apple.com"
export const APPLE_ID_HOST = "appleid.apple.com"
/** The billing service whose metrics are read. */
export const REVENUECAT_HOST = "api.revenuecat.com"
/**
 * Google Play Console: the host that issues tokens, the host with the files of reports, and the host of the publisher
 * API.
 */
export const GOOGLE_TOKEN_HOST = "oauth2.googleapis.com"
export const GOOGLE_STORAGE_HOST = "storage.googleapis.com"
export const PLAY_PUBLISHER_HOST = "androidpublisher.googleapis.com"
/** Hosts that need a key of the workspace. Each account has its own pace there. */
export const ACCOUNT_HOSTS = [
  CONSOLE_HOST,
  ADS_HOST,
  APPLE_ID_HOST,
  GOOGLE_TOKEN_HOST,
  GOOGLE_STORAGE_HOST,
  PLAY_PUBLISHER_HOST,
  REVENUECAT_HOST,
] as const
export type AccountHost = (typeof ACCOUNT_HOSTS)[number]
/** Hosts that a configured address can replace. */
export const NAMED_HOSTS = [...STORE_HOSTS, ...ACCOUNT_HOSTS] as const

/** Senders of purchase webhooks: billing services, and the App Store. */
export const BILLING_SOURCES = ["revenuecat", "adapty", "superwall", "app-store-notifications"] as const
export type BillingSource = (typeof BILLING_SOURCES)[number]

/** Sources of a workspace's own data. */
const ACCOUNT_SOURCES = [
  "asc-sales",
  "asc-subscriptions",
  "asc-subscription-events",
  "asc-offer-redemptions",
  "asc-engagement",
  "asc-downloads",
  "asc-prices",
  "play-console-reviews",
  "apple-ads-campaigns",
  "apple-ads-keywords",
  "apple-ads-days",
  "apple-ads-terms",
  "apple-ads-changes",
  "apple-ads-popularity",
  ...BILLING_SOURCES,
  "revenuecat-metrics",
  "play-console",
] as const
export type AccountSource = (typeof ACCOUNT_SOURCES)[number]

/** Assistants that are asked about apps, by maker. */
export const ASSISTANTS = ["openai", "anthropic", "google", "perplexity"] as const
export type Assistant = (typeof ASSISTANTS)[number]

/**
 * Sources of ranks, in order of precedence. The iTunes Search API is absent on purpose: its order differs from that on
 * a phone.
 */
export const RANK_SOURCES = ["apple-web-search", "apple-store-search", "play-search", "import", "foreign"] as const
export type RankSource = (typeof RANK_SOURCES)[number]

const FACT_SOURCES = [
  "itunes-search",
  "itunes-lookup",
  "apple-hints",
  "play-details",
  "play-suggest",
  "apple-ads-report",
  "apple-reviews",
  "play-reviews",
  "apple-app-page",
  "apple-charts",
  "apple-genres",
  "itunes-developer",
  "app-ads-txt",
] as const
export type FactSource = (typeof FACT_SOURCES)[number]

/** The sources of popularity: published, or estimated. */
export const POPULARITY_SOURCES = ["apple-ads-report", "estimate"] as const
export type PopularitySource = (typeof POPULARITY_SOURCES)[number]

export type SourceName = RankSource | FactSource | AccountSource | Assistant
export const SOURCE_NAMES: readonly SourceName[] = [...RANK_SOURCES, ...FACT_SOURCES]

/** Daily reports of a seller: sales, active subscriptions, subscription events, and redeemed offer codes. */
export const REPORTS = ["sales", "subscriptions", "subscription_events", "offer_redemptions"] as const
export type Report = (typeof REPORTS)[number]

/**
 * Reports of an app that are requested once and then created daily by the console: engagement (how people find the app)
 * and downloads.
 */
export const ANALYTICS_REPORTS = ["engagement", "downloads"] as const
export type AnalyticsReport = (typeof ANALYTICS_REPORTS)[number]

/** Files of Google Play Console with the daily counts of an app for a month. Each is a kind of observation. */
export const PLAY_COUNT_REPORTS = [
  "play_installs",
  "play_installs_country",
  "play_store_country",
  "play_store_sources",
  "play_ratings",
  "play_ratings_country",
  "play_crashes",
] as const
export type PlayCountReport = (typeof PLAY_COUNT_REPORTS)[number]

/** Files of Google Play Console with a developer's money from all apps for a month: settled, and estimated. */
const PLAY_MONEY_REPORTS = ["play_earnings", "play_sales"] as const
export type PlayMoneyReport = (typeof PLAY_MONEY_REPORTS)[number]

export const PLAY_REPORT_NAMES = [...PLAY_COUNT_REPORTS, ...PLAY_MONEY_REPORTS] as const
export type PlayReport = (typeof PLAY_REPORT_NAMES)[number]

export function isPlayReport(report: string): report is PlayReport {
  return (PLAY_REPORT_NAMES as readonly string[]).includes(report)
}

/** Reports of an ads account. Each is a kind of observation. */
export const ADS_REPORTS = [
  "ads_campaigns",
  "ads_keywords",
  "ads_days",
  "ads_terms",
  "ads_changes",
  "ads_popularity",
] as const
export type AdsReport = (typeof ADS_REPORTS)[number]
