import type { Operation } from "../../core/operation.ts"
import { listApprovals, settleApproval } from "./approvals.ts"
import { getAppHead, listStandings } from "./apps.ts"
import { listChangedTexts } from "./changed-texts.ts"
import { confirmEdit, getMadeChange, previewEdit } from "./edits.ts"
import { getEvidence, listReadings } from "./evidence.ts"
import { listKeywordRows } from "./keywords.ts"
import { listLocales } from "./locales.ts"
import { getReportEvidence } from "./report-evidence.ts"
import { findStoreApps } from "./store-apps.ts"
import { listAlertRules, listKeys, listSources, listWrites } from "./workspace.ts"

/** Operations that only pages call, through invoke. They have no REST route and no tool. */
const reads = [
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

/** Operations of forms, which the sample does not have. */
const edits = [previewEdit, confirmEdit, getMadeChange, findStoreApps]

export type DeskOperation = (typeof reads)[number] | (typeof edits)[number]

/** Operations with a sample answer in fixtures/desk. */
export const sampledOperations: readonly Operation[] = reads

export const deskOperations: readonly Operation[] = [...reads, ...edits]
