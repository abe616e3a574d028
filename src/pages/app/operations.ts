import type { Operation } from "../../core/operation.ts"
import type { Sources } from "../../sources.ts"
import { listAiShares } from "./ai-shares.ts"
import { listAppRevenue } from "./app-revenue.ts"
import { listApprovals, settleApproval } from "./approvals.ts"
import { getAppHead, listAppHeads } from "./apps.ts"
import { listChangedTexts } from "./changed-texts.ts"
import { confirmEdit, getMadeChange, previewEdit } from "./edits.ts"
import { getEvidence, listReadings } from "./evidence.ts"
import { getKeywordDays } from "./keyword-days.ts"
import { listKeywordRows } from "./keywords.ts"
import { listLocales } from "./locales.ts"
import { getLocalisationGrid } from "./localisation-grid.ts"
import { getMarket, getMarketApp, getMarketChart, listFoundApps } from "./market.ts"
import { listChartMarks } from "./marks.ts"
import { listNews, markSeen } from "./news.ts"
import { getOverview } from "./overview.ts"
import { listImportedLines, listRankLines, listRivalLines } from "./rank-lines.ts"
import { getReportEvidence } from "./report-evidence.ts"
import { getReview, listReviewReplies, listReviewThemes } from "./reviews.ts"
import { findStoreApps, listStoreFaces } from "./store-apps.ts"
import { getVisibility } from "./visibility.ts"
import { listAlertRules, listSources, listWrites } from "./workspace.ts"

/** Operations that only pages call, through invoke. They have no REST route and no tool. */
const readsWith = (sources: Sources) => [
  getAppHead,
  listKeywordRows,
  listAppHeads,
  getOverview,
  listNews,
  listRankLines,
  listRivalLines,
  listImportedLines,
  listChartMarks,
  getKeywordDays,
  getVisibility,
  getEvidence(sources),
  listReadings,
  listChangedTexts,
  listLocales,
  getLocalisationGrid,
  getReportEvidence,
  getReview,
  listReviewReplies,
  listReviewThemes,
  listAiShares,
  listAppRevenue,
  listAlertRules,
  listWrites,
  listSources,
  listApprovals,
  settleApproval,
  getMarket,
  getMarketChart,
  getMarketApp,
]

/** Operations of forms. The sample does not have them. */
const edits = [previewEdit, confirmEdit, getMadeChange, markSeen, findStoreApps, listStoreFaces, listFoundApps]

export type PageOperation = ReturnType<typeof readsWith>[number] | (typeof edits)[number]

/** Returns all operations of pages, and a list of those that have a sample answer in fixtures/pages. */
export function pageOperations(sources: Sources): { all: readonly Operation[]; sampled: readonly Operation[] } {
  const sampled = readsWith(sources)
  return { all: [...sampled, ...edits], sampled }
}
