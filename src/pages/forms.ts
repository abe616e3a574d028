import { markAlertsReadForm } from "./forms/alerts.ts"
import { markSeenForm, unmarkSeenForm } from "./forms/news.ts"
import type { PageForm } from "./forms/page-form.ts"
import { replyForm } from "./forms/replies.ts"
import { shareForm } from "./forms/sharing.ts"
import {
  addAppForm,
  addKeywordsForm,
  addRivalsForm,
  buryKeywordsForm,
  compareKeywordsForm,
  removeAppForm,
  removeKeywordsForm,
  removeRivalsForm,
  renameAppForm,
  setAppGoalForm,
  setStorefrontsForm,
  tagKeywordsForm,
  undoForm,
  untagKeywordsForm,
} from "./forms/tracking.ts"

/** Every form of /app, by the action that its hidden field names. */
export const FORMS: Readonly<Record<string, PageForm>> = {
  add_app: addAppForm,
  add_keywords: addKeywordsForm,
  remove_keywords: removeKeywordsForm,
  tag_keywords: tagKeywordsForm,
  untag_keywords: untagKeywordsForm,
  bury_keywords: buryKeywordsForm,
  compare_keywords: compareKeywordsForm,
  add_rivals: addRivalsForm,
  remove_rivals: removeRivalsForm,
  rename_app: renameAppForm,
  set_app_goal: setAppGoalForm,
  set_storefronts: setStorefrontsForm,
  remove_app: removeAppForm,
  undo_change: undoForm,
  create_share_link: shareForm,
  mark_alerts_read: markAlertsReadForm,
  reply_review: replyForm,
  mark_seen: markSeenForm,
  unmark_seen: unmarkSeenForm,
}
