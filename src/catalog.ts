import type { Action } from "./actions/action.ts"
import { addApp } from "./actions/add-app.ts"
import { createAlertRule, deleteAlertRule } from "./actions/alert-rules.ts"
import { addKeywords, removeKeywords } from "./actions/keywords.ts"
import { markAlertsRead } from "./actions/mark-alerts-read.ts"
import { addRivals, removeRivals } from "./actions/rivals.ts"
import { exportData } from "./links/export/action.ts"
import { shareLink } from "./links/share/action.ts"
import type { Operation } from "./operation.ts"
import { getUsage, whoami } from "./operations/account.ts"
import { listAlerts } from "./operations/alerts.ts"
import { getApp, listApps } from "./operations/apps.ts"
import { getChartMovers } from "./operations/chart-movers.ts"
import { getChartPositions } from "./operations/charts.ts"
import { getKeywordCompetition } from "./operations/competition.ts"
import { getFeaturing } from "./operations/featuring.ts"
import { fetchRecord } from "./operations/fetch.ts"
import { getRankHistory } from "./operations/history.ts"
import { getJob } from "./operations/jobs.ts"
import { listKeywordRanks } from "./operations/keywords.ts"
import { getPortfolioOverview } from "./operations/portfolio.ts"
import { getReviewStats } from "./operations/review-stats.ts"
import { listReviews, searchReviews } from "./operations/reviews.ts"
import { getRival } from "./operations/rival.ts"
import { getRivalAdNetworks } from "./operations/rival-ad-networks.ts"
import { getRivalMarket } from "./operations/rival-market.ts"
import { listRivals } from "./operations/rivals.ts"
import { search } from "./operations/search.ts"
import { getStorePage } from "./operations/store-page.ts"
import { getStorefrontAudit } from "./operations/storefront-audit.ts"
import { getTimeline } from "./operations/timeline.ts"
import { getToday } from "./operations/today.ts"
import { validateListing } from "./operations/validate-listing.ts"
import { getWeeklyPlan } from "./operations/weekly-plan.ts"
import { writeOperations } from "./operations/writes.ts"

/** Every write behind POST /actions, in the order of the specification. */
export const actions: readonly Action[] = [
  addApp, addKeywords, removeKeywords, addRivals, removeRivals, shareLink, exportData, markAlertsRead,
  createAlertRule, deleteAlertRule,
] // biome-ignore format: a list to scan

/**
 * Everything that can be called, in the order of the specification. Method, path, price and plan of each, a line each:
 * test/snapshots/catalog.txt, or `appmeter openapi --table`.
 */
export const catalog: readonly Operation[] = [
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
  getRankHistory,
  getStorePage,
  listReviews,
  getChartPositions,
  searchReviews,
  getReviewStats,
  getTimeline,
  getToday,
  getKeywordCompetition,
  getRival,
  getRivalAdNetworks,
  getRivalMarket,
  getStorefrontAudit,
  validateListing,
  getChartMovers,
  getFeaturing,
  getWeeklyPlan,
  getJob,
  ...writeOperations(actions),
]
