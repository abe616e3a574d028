import * as v from "valibot"
import { markAlertsRead } from "../../alerts/actions/mark-alerts-read.ts"
import { replyReview } from "../../consoles/actions/reply-review.ts"
import type { Action } from "../../core/action.ts"
import { operation } from "../../core/operation.ts"
import { shareLink } from "../../sharing/share/action.ts"
import { addApp } from "../../tracking/actions/add-app.ts"
import { removeTrackedApp, renameApp, setAppGoal, setStorefronts } from "../../tracking/actions/app-settings.ts"
import { importKeywords } from "../../tracking/actions/keyword-import.ts"
import { buryKeywords, tagKeywords } from "../../tracking/actions/keyword-tags.ts"
import { addKeywords, removeKeywords } from "../../tracking/actions/keywords.ts"
import { addRivals, removeRivals } from "../../tracking/actions/rivals.ts"
import { writeOperations } from "../../writes/operations/writes.ts"
import { readMadeChanges, undoAction } from "../../writes/undo.ts"
import { shared } from "./workspace.ts"

/** The writes that pages offer: those of the API, and some that are available on pages only. */
const pageWrites: readonly Action[] = [
  addApp,
  addKeywords,
  importKeywords,
  removeKeywords,
  addRivals,
  removeRivals,
  shareLink,
  markAlertsRead,
  tagKeywords,
  buryKeywords,
  renameApp,
  setAppGoal,
  setStorefronts,
  removeTrackedApp,
  replyReview,
]

const [previewAction, confirmAction] = writeOperations([...pageWrites, undoAction(pageWrites)])

export const previewEdit = { ...previewAction, id: "preview_edit" as const }
export const confirmEdit = { ...confirmAction, id: "confirm_edit" as const }

const undoable = new Set(pageWrites.flatMap(({ name, undo }) => (undo ? [name] : [])))

export const getMadeChange = operation({
  ...shared,
  id: "get_made_change",
  path: "/page/made",
  summary: "The changes that a form of a page made a moment ago.",
  scope: null,
  input: v.strictObject({ requestId: v.pipe(v.string(), v.uuid()) }),
  output: v.strictObject({
    changes: v.array(
      v.strictObject({
        id: v.number(),
        action: v.string(),
        args: v.record(v.string(), v.unknown()),
        result: v.nullable(v.record(v.string(), v.unknown())),
        appId: v.nullable(v.string()),
        summary: v.string(),
        canUndo: v.boolean(),
      }),
    ),
  }),
}).run(async ({ requestId }, { sql, caller }) => {
  const changes = await readMadeChanges(sql, caller, requestId)
  const visible = changes.filter(({ appId }) => !caller.appList || (appId !== null && caller.appList.includes(appId)))
  return { changes: visible.map((change) => ({ ...change, canUndo: undoable.has(change.action) })) }
})
