import { createAlertRule, deleteAlertRule } from "./alerts/actions/alert-rules.ts"
import { markAlertsRead } from "./alerts/actions/mark-alerts-read.ts"
import { addExactKeyword, addNegativeKeyword } from "./consoles/actions/ads/add.ts"
import { setDailyBudget, setKeywordBid } from "./consoles/actions/ads/money.ts"
import { pauseCampaign, pauseKeyword, resumeCampaign, resumeKeyword } from "./consoles/actions/ads/status.ts"
import { replyReview } from "./consoles/actions/reply-review.ts"
import { updateListing } from "./consoles/actions/update-listing.ts"
import { type Action, writeEntry } from "./core/action.ts"
import { exportData } from "./sharing/export/action.ts"
import { shareLink } from "./sharing/share/action.ts"
import { addApp } from "./tracking/actions/add-app.ts"
import { addKeywords, removeKeywords } from "./tracking/actions/keywords.ts"
import { addRivals, removeRivals } from "./tracking/actions/rivals.ts"

/**
 * Name, write, credits, plan and scope of each write of POST /actions, in the order of the specification. The compiler
 * checks each line.
 */
export const actions: readonly Action[] = [
  writeEntry("add_app", addApp, 2, "free", "track:write"),
  writeEntry("add_keywords", addKeywords, 1, "free", "track:write"),
  writeEntry("remove_keywords", removeKeywords, 1, "free", "track:write"),
  writeEntry("add_rivals", addRivals, 1, "free", "track:write"),
  writeEntry("remove_rivals", removeRivals, 1, "free", "track:write"),
  writeEntry("create_share_link", shareLink, 1, "free", "reports:write"),
  writeEntry("export_data", exportData, 20, "pro", "reports:write"),
  writeEntry("mark_alerts_read", markAlertsRead, 0, "free", "track:write"),
  writeEntry("create_alert_rule", createAlertRule, 2, "free", "track:write"),
  writeEntry("delete_alert_rule", deleteAlertRule, 0, "free", "track:write"),
  writeEntry("reply_review", replyReview, 2, "free", "reviews:write"),
  writeEntry("update_listing", updateListing, 5, "studio", "listing:write"),
  writeEntry("pause_campaign", pauseCampaign, 2, "studio", "ads:write"),
  writeEntry("resume_campaign", resumeCampaign, 2, "studio", "ads:write"),
  writeEntry("set_daily_budget", setDailyBudget, 2, "studio", "ads:write"),
  writeEntry("set_keyword_bid", setKeywordBid, 2, "studio", "ads:write"),
  writeEntry("pause_keyword", pauseKeyword, 2, "studio", "ads:write"),
  writeEntry("resume_keyword", resumeKeyword, 2, "studio", "ads:write"),
  writeEntry("add_negative_keyword", addNegativeKeyword, 2, "studio", "ads:write"),
  writeEntry("add_exact_keyword", addExactKeyword, 2, "studio", "ads:write"),
]
