export const STORE_HOSTS = ["apps.apple.com", "itunes.apple.com", "search.itunes.apple.com", "play.google.com"] as const

/** Of what is not one host: all sites of developers together, and all that give the stores' pictures. */
const SHARED_LANES = ["developer-sites", "store-pictures"] as const
/** What is asked at a pace of its own. */
export const UPSTREAMS = [...STORE_HOSTS, ...SHARED_LANES] as const
export type Upstream = (typeof UPSTREAMS)[number]

/** The seller's console of the App Store. */
export const CONSOLE_HOST = "api.appstoreconnect.apple.com"
/** Apple Ads, and where its tokens come from. */
export const ADS_HOST = "api.ads.apple.com"
export const APPLE_ID_HOST = "appleid.apple.com"
/** What a billing service reckons. */
export const REVENUECAT_HOST = "api.revenuecat.com"
/** Hosts that are asked with a key of the workspace's: each account has a pace of its own there. */
export const ACCOUNT_HOSTS = [CONSOLE_HOST, ADS_HOST, APPLE_ID_HOST, REVENUECAT_HOST] as const
export type AccountHost = (typeof ACCOUNT_HOSTS)[number]
/** Hosts in whose place an address can be named. */
export const NAMED_HOSTS = [...STORE_HOSTS, ...ACCOUNT_HOSTS] as const

/** Who tells of purchases by messages to us: billing services, and the store itself. */
export const BILLING_SOURCES = ["revenuecat", "adapty", "superwall", "app-store-notifications"] as const
export type BillingSource = (typeof BILLING_SOURCES)[number]

/** Who reads what belongs to a workspace. */
const ACCOUNT_SOURCES = [
  "asc-sales", "asc-subscriptions", "asc-subscription-events", "asc-offer-redemptions", "asc-engagement", "asc-downloads",
  "asc-prices",
  "apple-ads-campaigns", "apple-ads-keywords", "apple-ads-days", "apple-ads-terms", "apple-ads-changes", "apple-ads-popularity",
  ...BILLING_SOURCES, "revenuecat-metrics",
] as const // biome-ignore format: a list to scan
export type AccountSource = (typeof ACCOUNT_SOURCES)[number]

/** Assistants that are asked for apps, each by its maker. */
export const ASSISTANTS = ["openai", "anthropic", "google", "perplexity"] as const
export type Assistant = (typeof ASSISTANTS)[number]

/** In order of precedence. The iTunes Search API is absent on purpose: its order is not the order a phone shows. */
export const RANK_SOURCES = ["apple-web-search", "apple-store-search", "play-search", "import", "foreign"] as const
export type RankSource = (typeof RANK_SOURCES)[number]

const FACT_SOURCES = [
  "itunes-search", "itunes-lookup", "apple-hints", "play-details", "play-suggest", "apple-ads-report",
  "apple-reviews", "play-reviews",
  "apple-app-page", "apple-charts", "apple-genres", "itunes-developer", "app-ads-txt",
] as const // biome-ignore format: a list to scan
export type FactSource = (typeof FACT_SOURCES)[number]

/** Where a popularity comes from: published, or calculated. */
export const POPULARITY_SOURCES = ["apple-ads-report", "estimate"] as const
export type PopularitySource = (typeof POPULARITY_SOURCES)[number]

export type SourceName = RankSource | FactSource | AccountSource | Assistant
export const SOURCE_NAMES: readonly SourceName[] = [...RANK_SOURCES, ...FACT_SOURCES]

/** The reports of a seller that are read, by the day: what was sold, what stands, what happened to subscriptions, and codes redeemed. */
export const REPORTS = ["sales", "subscriptions", "subscription_events", "offer_redemptions"] as const
export type Report = (typeof REPORTS)[number]

/** Reports of an app that are asked for once and then made each day: how people came to it, and how often it was downloaded. */
export const ANALYTICS_REPORTS = ["engagement", "downloads"] as const
export type AnalyticsReport = (typeof ANALYTICS_REPORTS)[number]

/** What an ad account is asked for; each is a kind of observation. */
export const ADS_REPORTS = [
  "ads_campaigns", "ads_keywords", "ads_days", "ads_terms", "ads_changes", "ads_popularity",
] as const // biome-ignore format: a list to scan
export type AdsReport = (typeof ADS_REPORTS)[number]
