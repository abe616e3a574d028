import type { Operation } from "./operation.ts"
import { getUsage, whoami } from "./operations/account/account.ts"
import { listAlerts } from "./operations/account/alerts.ts"
import { fetchRecord } from "./operations/account/fetch-record.ts"
import { getPortfolioOverview } from "./operations/account/portfolio.ts"
import { search } from "./operations/account/search.ts"
import { listCampaigns } from "./operations/ads/campaigns.ts"
import { listAdsCommands } from "./operations/ads/commands.ts"
import { listAdsKeywords } from "./operations/ads/keywords.ts"
import { getSearchPopularity } from "./operations/ads/search-popularity.ts"
import { listAdsSearchTerms } from "./operations/ads/search-terms.ts"
import { getApp, listApps } from "./operations/apps/apps.ts"
import { getToday } from "./operations/apps/today.ts"
import { startAiCheck } from "./operations/assistants/ai-check.ts"
import { getAiVisibility } from "./operations/assistants/ai-visibility.ts"
import { getChartMovers } from "./operations/charts/chart-movers.ts"
import { getChartPositions } from "./operations/charts/charts.ts"
import { hiveGetApp } from "./operations/hive/app.ts"
import { hiveGetChart } from "./operations/hive/chart.ts"
import { checkRank } from "./operations/hive/check-rank.ts"
import { hiveEstimateApp } from "./operations/hive/estimates/estimate.ts"
import { hiveFindApps } from "./operations/hive/find.ts"
import { hiveGetKeywordGap } from "./operations/hive/gap.ts"
import { getKeywordDifficulty } from "./operations/hive/keyword-difficulty.ts"
import { hiveGetKeywordMetrics } from "./operations/hive/keyword-metrics.ts"
import { hiveGetKeywordMetricsHistory } from "./operations/hive/keyword-metrics-history.ts"
import { hiveGetKeywordRanks } from "./operations/hive/keyword-ranks.ts"
import { hiveMeasureKeyword } from "./operations/hive/keywords/measure.ts"
import { hiveResearchKeyword } from "./operations/hive/keywords/research.ts"
import { hiveGetLandscape } from "./operations/hive/landscape.ts"
import { hiveGetChartMovers } from "./operations/hive/movers.ts"
import { hiveListNewApps } from "./operations/hive/new-apps.ts"
import { hiveGetPublisher } from "./operations/hive/publisher.ts"
import { hiveResolveApp } from "./operations/hive/resolve.ts"
import { hiveListReviews } from "./operations/hive/reviews.ts"
import { hiveGetSimilarApps } from "./operations/hive/similar.ts"
import { hiveSpyApp } from "./operations/hive/spy.ts"
import { getKeywordCompetition } from "./operations/keywords/competition.ts"
import { getRankHistory } from "./operations/keywords/history.ts"
import { listKeywordRanks } from "./operations/keywords/keywords.ts"
import { getFeaturing } from "./operations/page/featuring.ts"
import { getStorePage } from "./operations/page/store-page.ts"
import { getStorefrontAudit } from "./operations/page/storefront-audit.ts"
import { getTimeline } from "./operations/page/timeline.ts"
import { validateListing } from "./operations/page/validate-listing.ts"
import { getWeeklyPlan } from "./operations/page/weekly-plan.ts"
import { getCountryPrices } from "./operations/revenue/country-prices.ts"
import { getFunnel } from "./operations/revenue/funnel.ts"
import { getChangeImpact } from "./operations/revenue/impact/change-impact.ts"
import { getPricing } from "./operations/revenue/pricing.ts"
import { getRevenue } from "./operations/revenue/revenue.ts"
import { getSubscriptions } from "./operations/revenue/subscriptions.ts"
import { getReviewStats } from "./operations/reviews/review-stats.ts"
import { listReviews, searchReviews } from "./operations/reviews/reviews.ts"
import { getRival } from "./operations/rivals/get-rival.ts"
import { listRivals } from "./operations/rivals/list-rivals.ts"
import { getRivalAdNetworks } from "./operations/rivals/rival-ad-networks.ts"
import { getRivalMarket } from "./operations/rivals/rival-market.ts"
import { getJob } from "./operations/writes/jobs.ts"
import { writeOperations } from "./operations/writes/writes.ts"
import { suggestKeywords } from "./operations/writing/keyword-ideas.ts"
import { draftListing } from "./operations/writing/listing-draft.ts"
import { localizeListing } from "./operations/writing/localisation.ts"
import { draftReviewReply } from "./operations/writing/review-reply.ts"
import { summarizeReviews } from "./operations/writing/review-summary.ts"
import { getScreenshotText } from "./operations/writing/screenshot-text.ts"
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
