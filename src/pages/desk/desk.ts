import type { Operation } from "../../core/operation.ts"
import { listApprovals, settleApproval } from "./approvals.ts"
import { getAppHead, listStandings } from "./apps.ts"
import { listChangedTexts } from "./changed-texts.ts"
import { getEvidence, listReadings } from "./evidence.ts"
import { listKeywordRows } from "./keywords.ts"
import { listLocales } from "./locales.ts"
import { getReportEvidence } from "./report-evidence.ts"
import { listAlertRules, listKeys, listSources, listWrites } from "./workspace.ts"

/** Operations that only pages call, through invoke. They have no REST route and no tool. */
const operations = [
  getAppHead,
  listKeywordRows,
  listStandings,
  getEvidence,
  listReadings,
  listChangedTexts,
  listLocales,
  getReportEvidence,
  listAlertRules,
  listKeys,
  listWrites,
  listSources,
  listApprovals,
  settleApproval,
]

export type DeskOperation = (typeof operations)[number]

export const deskOperations: readonly Operation[] = operations
