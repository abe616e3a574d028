import type { Operation } from "../operation.ts"
import { listApprovals, settleApproval } from "./approvals.ts"
import { getAppHead, listStandings } from "./apps.ts"
import { listChangedTexts } from "./changed-texts.ts"
import { getEvidence, listReadings } from "./evidence.ts"
import { listKeywordRows } from "./keywords.ts"
import { listLocales } from "./locales.ts"
import { getReportEvidence } from "./report-evidence.ts"
import { listAlertRules, listKeys, listSources, listWrites } from "./workspace.ts"

/** What pages alone ask, through invoke as everything else: no route of REST and no tool leads to it. */
export const deskOperations: readonly Operation[] = [
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
