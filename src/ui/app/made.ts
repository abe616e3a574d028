import { ownValue } from "../../lib/objects.ts"
import { counted } from "../words.ts"
import type { PageContext } from "./context.ts"

type MadeChange = PageContext["made"][number]

/** Returns what a form did, in one sentence. A list that was written in pieces counts as one change. */
export function madeText(changes: PageContext["made"]): string {
  const [first] = changes
  if (!first) return ""
  return ownValue(TEXTS, first.action)?.(changes) ?? first.summary
}

const TEXTS: Readonly<Record<string, (changes: readonly MadeChange[]) => string>> = {
  add_app: (changes) => `App added. ${importedText(changes.slice(1))}`.trim(),
  add_keywords: addedText,
  import_keywords: importedText,
  remove_keywords: (changes) => `${counted(listed(changes, "removed"), "keyword")} removed.`,
  tag_keywords: ([change]) => {
    const keywords = counted(listed([change!], "tagged"), "keyword")
    return `Tag “${change?.args.tag}” ${change?.args.remove ? "removed from" : "added to"} ${keywords}.`
  },
  bury_keywords: (changes) => `${counted(listed(changes, "buried"), "keyword")} buried: not suggested again.`,
  add_rivals: (changes) => `${counted(listed(changes, "added"), "rival")} added.`,
  remove_rivals: (changes) => `${counted(listed(changes, "removed"), "rival")} hidden.`,
  rename_app: () => "App renamed.",
  set_app_goal: () => "Goal saved.",
  set_storefronts: () => "Storefronts saved.",
  remove_app: () => "App removed.",
  mark_alerts_read: ([change]) => `${counted(Number(change?.result?.marked ?? 0), "alert")} marked as read.`,
  reply_review: () => "The reply is queued. It is sent within a minute; its state is shown at the review.",
  undo_change: () => "Undone.",
}

function addedText(changes: readonly MadeChange[]): string {
  return changes.length === 0 ? "" : `${counted(listed(changes, "added"), "keyword")} added.`
}

function importedText(changes: readonly MadeChange[]): string {
  const tagged = listed(changes, "tagged")
  return `${addedText(changes)}${tagged > 0 ? ` ${counted(tagged, "keyword")} tagged.` : ""}`
}

/** Counts the entries of a list in the results. */
function listed(changes: readonly MadeChange[], name: string): number {
  return changes.reduce((sum, { result }) => {
    const list = result?.[name]
    return sum + (Array.isArray(list) ? list.length : 0)
  }, 0)
}
