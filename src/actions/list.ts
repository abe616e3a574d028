import type { Action } from "./action.ts"
import { addApp } from "./add-app.ts"
import { createAlertRule, deleteAlertRule } from "./alert-rules.ts"
import { exportData } from "./export-data.ts"
import { addKeywords, removeKeywords } from "./keywords.ts"
import { markAlertsRead } from "./mark-alerts-read.ts"
import { addRivals, removeRivals } from "./rivals.ts"
import { shareLink } from "./share-link.ts"

/** Every write behind POST /actions, in the order of the specification. */
export const actions: readonly Action[] = [
  addApp, addKeywords, removeKeywords, addRivals, removeRivals, shareLink, exportData, markAlertsRead,
  createAlertRule, deleteAlertRule,
] // biome-ignore format: a list to scan
