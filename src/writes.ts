import type { Action } from "./actions/action.ts"
import { addApp } from "./actions/add-app.ts"
import { addExactKeyword, addNegativeKeyword } from "./actions/ads/add.ts"
import { setDailyBudget, setKeywordBid } from "./actions/ads/money.ts"
import { pauseCampaign, pauseKeyword, resumeCampaign, resumeKeyword } from "./actions/ads/status.ts"
import { createAlertRule, deleteAlertRule } from "./actions/alert-rules.ts"
import { replyReview } from "./actions/console/reply-review.ts"
import { updateListing } from "./actions/console/update-listing.ts"
import { addKeywords, removeKeywords } from "./actions/keywords.ts"
import { markAlertsRead } from "./actions/mark-alerts-read.ts"
import { addRivals, removeRivals } from "./actions/rivals.ts"
import { exportData } from "./links/export/action.ts"
import { shareLink } from "./links/share/action.ts"

/** Every write behind POST /actions, in the order of the specification. */
export const actions: readonly Action[] = [
  addApp, addKeywords, removeKeywords, addRivals, removeRivals, shareLink, exportData, markAlertsRead,
  createAlertRule, deleteAlertRule, replyReview, updateListing,
  pauseCampaign, resumeCampaign, setDailyBudget, setKeywordBid, pauseKeyword, resumeKeyword, addNegativeKeyword, addExactKeyword,
] // biome-ignore format: a list to scan
