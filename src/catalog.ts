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
import type { Operation } from "./core/operation.ts"
import { getKeywordCompetition } from "./keywords/operations/competition.ts"
import { getRankHistory } from "./keywords/operations/history.ts"
import { listKeywordRanks } from "./keywords/operations/keywords.ts"
import { getRival } from "./keywords/operations/rivals/get-rival.ts"
import { listRivals } from "./keywords/operations/rivals/list-rivals.ts"
import { getRivalAdNetworks } from "./keywords/operations/rivals/rival-ad-networks.ts"
import { getRivalMarket } from "./keywords/operations/rivals/rival-market.ts"
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
import { getReviewStats } from "./reviews/operations/review-stats.ts"
import { listReviews, searchReviews } from "./reviews/operations/reviews.ts"
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

/** In the order of the specification. Method, path, price and plan: test/snapshots/catalog.txt. */
const operations = [
  listAlerts,
  getPortfolioOverview,
  whoami,
  getUsage,
  search,
  fetchRecord,
  listApps,
  getApp,
  listKeywordRanks,
  listRivals,
  getAiVisibility,
  startAiCheck,
  getRankHistory,
  getStorePage,
  listReviews,
  getChartPositions,
  searchReviews,
  getReviewStats,
  summarizeReviews,
  draftReviewReply,
  getTimeline,
  getToday,
  getKeywordCompetition,
  getRival,
  getRivalAdNetworks,
  getRivalMarket,
  getStorefrontAudit,
  suggestKeywords,
  validateListing,
  draftListing,
  localizeListing,
  getScreenshotText,
  getChartMovers,
  getFeaturing,
  getWeeklyPlan,
  getRevenue,
  getSubscriptions,
  getFunnel,
  listCampaigns,
  listAdsKeywords,
  listAdsSearchTerms,
  listAdsCommands,
  getSearchPopularity,
  getPricing,
  getCountryPrices,
  getChangeImpact,
  checkRank,
  getKeywordDifficulty,
  hiveFindApps,
  hiveGetChart,
  hiveGetChartMovers,
  hiveListNewApps,
  hiveGetPublisher,
  hiveResolveApp,
  hiveGetSimilarApps,
  hiveListReviews,
  hiveMeasureKeyword,
  hiveGetApp,
  hiveGetKeywordRanks,
  hiveGetKeywordMetrics,
  hiveGetKeywordMetricsHistory,
  hiveSpyApp,
  hiveEstimateApp,
  hiveGetKeywordGap,
  hiveResearchKeyword,
  hiveGetLandscape,
  getJob,
  ...writeOperations(actions),
]

export type CatalogOperation = (typeof operations)[number]

export const catalog: readonly Operation[] = operations

export { actions }
