import { createAlertRule, deleteAlertRule } from "./alerts/actions/alert-rules.ts"
import { markAlertsRead } from "./alerts/actions/mark-alerts-read.ts"
import { addExactKeyword, addNegativeKeyword } from "./consoles/actions/ads/add.ts"
import { setDailyBudget, setKeywordBid } from "./consoles/actions/ads/money.ts"
import { pauseCampaign, pauseKeyword, resumeCampaign, resumeKeyword } from "./consoles/actions/ads/status.ts"
import { replyReview } from "./consoles/actions/reply-review.ts"
import { updateListing } from "./consoles/actions/update-listing.ts"
import type { Action } from "./core/action.ts"
import { exportData } from "./sharing/export/action.ts"
import { shareLink } from "./sharing/share/action.ts"
import { addApp } from "./tracking/actions/add-app.ts"
import { addKeywords, removeKeywords } from "./tracking/actions/keywords.ts"
import { addRivals, removeRivals } from "./tracking/actions/rivals.ts"

/** Every write of POST /actions, in the order of the specification. */
export const actions: readonly Action[] = [
  addApp,
  addKeywords,
  removeKeywords,
  addRivals,
  removeRivals,
  shareLink,
  exportData,
  markAlertsRead,
  createAlertRule,
  deleteAlertRule,
  replyReview,
  updateListing,
  pauseCampaign,
  resumeCampaign,
  setDailyBudget,
  setKeywordBid,
  pauseKeyword,
  resumeKeyword,
  addNegativeKeyword,
  addExactKeyword,
]
