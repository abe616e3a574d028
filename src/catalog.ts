import { listAlerts } from "./alerts/operations/alerts.ts"
import { getChartMovers } from "./charts/operations/chart-movers.ts"
import { getChartPositions } from "./charts/operations/charts.ts"
import { listCampaigns } from "./consoles/operations/ads/campaigns.ts"
import { listAdsCommands } from "./consoles/operations/ads/commands.ts"
import { listAdsKeywords } from "./consoles/operations/ads/keywords.ts"
import { getSearchPopularity } from "./consoles/operations/ads/search-popularity.ts"
import { listAdsSearchTerms } from "./consoles/operations/ads/search-terms.ts"
import { getCountryPrices } from "./consoles/operations/country-prices.ts"
import { getFunnel } from "./consoles/operations/funnel.ts"
import { getChangeImpact } from "./consoles/operations/impact/change-impact.ts"
import { getPricing } from "./consoles/operations/pricing.ts"
import { getRevenue } from "./consoles/operations/revenue.ts"
import { getSubscriptions } from "./consoles/operations/subscriptions.ts"
import { entry, type Operation } from "./core/operation.ts"
import { getKeywordCompetition } from "./keywords/operations/competition.ts"
import { getRankHistory } from "./keywords/operations/history.ts"
import { listKeywordRanks } from "./keywords/operations/keywords.ts"
import { listRivals } from "./keywords/operations/list-rivals.ts"
import { getFeaturing } from "./listings/operations/featuring.ts"
import { getStorePage } from "./listings/operations/store-page.ts"
import { getStorefrontAudit } from "./listings/operations/storefront-audit.ts"
import { validateListing } from "./listings/operations/validate-listing.ts"
import { hiveGetApp } from "./market/operations/app.ts"
import { hiveGetChart } from "./market/operations/chart.ts"
import { checkRank } from "./market/operations/check-rank.ts"
import { hiveEstimateApp } from "./market/operations/estimates/estimate.ts"
import { hiveFindApps } from "./market/operations/find.ts"
import { hiveGetKeywordGap } from "./market/operations/gap.ts"
import { getKeywordDifficulty } from "./market/operations/keyword-difficulty.ts"
import { hiveGetKeywordMetrics } from "./market/operations/keyword-metrics.ts"
import { hiveGetKeywordMetricsHistory } from "./market/operations/keyword-metrics-history.ts"
import { hiveGetKeywordRanks } from "./market/operations/keyword-ranks.ts"
import { hiveMeasureKeyword } from "./market/operations/keywords/measure.ts"
import { hiveResearchKeyword } from "./market/operations/keywords/research.ts"
import { hiveGetLandscape } from "./market/operations/landscape.ts"
import { hiveGetChartMovers } from "./market/operations/movers.ts"
import { hiveListNewApps } from "./market/operations/new-apps.ts"
import { hiveGetPublisher } from "./market/operations/publisher.ts"
import { hiveResolveApp } from "./market/operations/resolve.ts"
import { hiveListReviews } from "./market/operations/reviews.ts"
import { getRival } from "./market/operations/rivals/get-rival.ts"
import { getRivalAdNetworks } from "./market/operations/rivals/rival-ad-networks.ts"
import { getRivalMarket } from "./market/operations/rivals/rival-market.ts"
import { hiveGetSimilarApps } from "./market/operations/similar.ts"
import { hiveSpyApp } from "./market/operations/spy.ts"
import { getUsage, whoami } from "./overview/operations/account.ts"
import { getApp, listApps } from "./overview/operations/apps.ts"
import { fetchRecord } from "./overview/operations/fetch-record.ts"
import { getPortfolioOverview } from "./overview/operations/portfolio.ts"
import { search } from "./overview/operations/search.ts"
import { getTimeline } from "./overview/operations/timeline.ts"
import { getToday } from "./overview/operations/today.ts"
import { getWeeklyPlan } from "./overview/operations/weekly-plan.ts"
import { listReviews } from "./reviews/operations/list-reviews.ts"
import { getReviewStats } from "./reviews/operations/review-stats.ts"
import { searchReviews } from "./reviews/operations/search-reviews.ts"
import { suggestKeywords } from "./texts/operations/keyword-ideas.ts"
import { draftListing } from "./texts/operations/listing-draft.ts"
import { localizeListing } from "./texts/operations/localisation.ts"
import { draftReviewReply } from "./texts/operations/review-reply.ts"
import { summarizeReviews } from "./texts/operations/review-summary.ts"
import { getScreenshotText } from "./texts/operations/screenshot-text.ts"
import { startAiCheck } from "./visibility/operations/ai-check.ts"
import { getAiVisibility } from "./visibility/operations/ai-visibility.ts"
import { getJob } from "./writes/operations/jobs.ts"
import { writeOperations } from "./writes/operations/writes.ts"
import { actions } from "./writes.ts"

/**
 * Method, path, operation, credits, plan and toolset of each operation, in the order of the specification. The compiler
 * checks each line.
 */
const operations = [
  entry("GET", "/alerts", listAlerts, 1, "free", "account"),
  entry("GET", "/portfolio", getPortfolioOverview, 2, "free", "account"),
  entry("GET", "/account", whoami, 0, "free", "account"),
  entry("GET", "/usage", getUsage, 0, "free", "account"),
  entry("GET", "/search", search, 1, "free", "account"),
  entry("GET", "/fetch", fetchRecord, 1, "free", "account"),
  entry("GET", "/apps", listApps, 1, "free", "apps"),
  entry("GET", "/apps/:appId", getApp, 1, "free", "apps"),
  entry("GET", "/apps/:appId/keywords", listKeywordRanks, 1, "free", "keywords"),
  entry("GET", "/apps/:appId/rivals", listRivals, 1, "free", "rivals"),
  entry("GET", "/apps/:appId/ai", getAiVisibility, 1, "studio", "ai"),
  entry("GET", "/apps/:appId/ai-check", startAiCheck, 1, "studio", "ai"),
  entry("GET", "/apps/:appId/history", getRankHistory, 1, "pro", "keywords"),
  entry("GET", "/apps/:appId/page", getStorePage, 1, "free", "page"),
  entry("GET", "/apps/:appId/reviews", listReviews, 1, "free", "reviews"),
  entry("GET", "/apps/:appId/charts", getChartPositions, 1, "free", "charts"),
  entry("GET", "/apps/:appId/reviews/search", searchReviews, 1, "free", "reviews"),
  entry("GET", "/apps/:appId/reviews/stats", getReviewStats, 1, "free", "reviews"),
  entry("GET", "/apps/:appId/reviews/summary", summarizeReviews, 1, "free", "reviews"),
  entry("GET", "/apps/:appId/reviews/reply-draft", draftReviewReply, 1, "free", "reviews"),
  entry("GET", "/apps/:appId/timeline", getTimeline, 1, "free", "page"),
  entry("GET", "/apps/:appId/today", getToday, 1, "free", "apps"),
  entry("GET", "/apps/:appId/competition", getKeywordCompetition, 1, "free", "keywords"),
  entry("GET", "/apps/:appId/rivals/:rivalId", getRival, 1, "free", "rivals"),
  entry("GET", "/apps/:appId/rivals/:rivalId/adnetworks", getRivalAdNetworks, 1, "free", "rivals"),
  entry("GET", "/apps/:appId/rivals/:rivalId/market", getRivalMarket, 1, "free", "rivals"),
  entry("GET", "/apps/:appId/storefront-audit", getStorefrontAudit, 1, "free", "page"),
  entry("GET", "/apps/:appId/suggest", suggestKeywords, 1, "pro", "keywords"),
  entry("POST", "/apps/:appId/validate-listing", validateListing, 1, "free", "page"),
  entry("GET", "/apps/:appId/draft", draftListing, 1, "pro", "page"),
  entry("GET", "/apps/:appId/localize", localizeListing, 1, "free", "page"),
  entry("GET", "/apps/:appId/shot-text", getScreenshotText, 1, "pro", "page"),
  entry("GET", "/apps/:appId/chart-movers", getChartMovers, 1, "pro", "charts"),
  entry("GET", "/apps/:appId/featuring", getFeaturing, 1, "free", "page"),
  entry("GET", "/apps/:appId/weekly-plan", getWeeklyPlan, 1, "pro", "page"),
  entry("GET", "/apps/:appId/revenue", getRevenue, 1, "free", "revenue"),
  entry("GET", "/apps/:appId/subscriptions", getSubscriptions, 1, "free", "revenue"),
  entry("GET", "/apps/:appId/funnel", getFunnel, 1, "free", "revenue"),
  entry("GET", "/apps/:appId/campaigns", listCampaigns, 1, "free", "ads"),
  entry("GET", "/apps/:appId/ads-keywords", listAdsKeywords, 1, "free", "ads"),
  entry("GET", "/apps/:appId/ads-search-terms", listAdsSearchTerms, 1, "free", "ads"),
  entry("GET", "/apps/:appId/ads-commands", listAdsCommands, 1, "free", "ads"),
  entry("GET", "/apps/:appId/search-popularity", getSearchPopularity, 1, "free", "ads"),
  entry("GET", "/apps/:appId/pricing", getPricing, 1, "free", "revenue"),
  entry("GET", "/apps/:appId/country-prices", getCountryPrices, 1, "pro", "revenue"),
  entry("GET", "/apps/:appId/change-impact", getChangeImpact, 1, "free", "revenue"),
  entry("GET", "/rank-check", checkRank, 10, "pack", "hive"),
  entry("GET", "/keyword-difficulty", getKeywordDifficulty, 10, "pack", "hive"),
  entry("GET", "/hive/find", hiveFindApps, "20-10020", "pack", "hive"),
  entry("GET", "/hive/charts", hiveGetChart, "10-5010", "pack", "hive"),
  entry("GET", "/hive/movers", hiveGetChartMovers, 10, "pack", "hive"),
  entry("GET", "/hive/new", hiveListNewApps, 10, "pack", "hive"),
  entry("GET", "/hive/publisher/:publisherId", hiveGetPublisher, 10, "pack", "hive"),
  entry("GET", "/hive/resolve", hiveResolveApp, 10, "pack", "hive"),
  entry("GET", "/hive/similar/:appId", hiveGetSimilarApps, 10, "pack", "hive"),
  entry("GET", "/hive/reviews/:appId", hiveListReviews, 10, "pack", "hive"),
  entry("POST", "/hive/keywords/:term/metrics/measure", hiveMeasureKeyword, 50, "explorer", "hive"),
  entry("GET", "/hive/apps/:id", hiveGetApp, 10, "pack", "hive"),
  entry("GET", "/hive/keywords/:term/ranks", hiveGetKeywordRanks, "10-40", "pack", "hive"),
  entry("GET", "/hive/keywords/:term/metrics", hiveGetKeywordMetrics, 10, "explorer", "hive"),
  entry("GET", "/hive/keywords/:term/metrics/history", hiveGetKeywordMetricsHistory, "10-40", "explorer", "hive"),
  entry("GET", "/hive/spy/:id", hiveSpyApp, 200, "pack", "hive"),
  entry("GET", "/hive/estimate/:id", hiveEstimateApp, 500, "pack", "hive"),
  entry("GET", "/hive/gap", hiveGetKeywordGap, "200-1000", "explorer", "hive"),
  entry("GET", "/hive/research", hiveResearchKeyword, 50, "explorer", "hive"),
  entry("GET", "/hive/landscape", hiveGetLandscape, 10, "pack", "hive"),
  entry("GET", "/jobs/:jobId", getJob, 0, "free", "writes"),
  ...writeOperations(actions),
]

export type CatalogOperation = (typeof operations)[number]

export const catalog: readonly Operation[] = operations

export { actions }
