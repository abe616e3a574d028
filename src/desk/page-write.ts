import type { Diff } from "../actions/action.ts"
import { changedLines, WHOLE } from "../actions/changed-lines.ts"
import { Fault } from "../faults.ts"
import { type PageAnswer, seeOther } from "../pages/answer.ts"
import type { Desk, Page } from "../pages/app/desk.ts"
import { argumentsIn, donePage, previewPage, type WritePreview } from "../pages/app/write/form.ts"
import { fieldOf } from "../pages/form.ts"
import { isOwnPath } from "../sign-in/owner.ts"

type PreviewAnswer = Omit<WritePreview, "lines"> & { preview: Diff }

interface ConfirmAnswer {
  result: { url?: string; expiresAt?: string; appId?: string }
}

/** A write from a page goes the way of every write: its preview is shown, and its confirm follows from a second form alone. */
export async function writeFromPage(desk: Desk, fields: URLSearchParams): Promise<Page | PageAnswer> {
  const back = backIn(desk, fields)
  const confirmToken = fieldOf(fields, "confirmToken")
  if (confirmToken !== undefined) {
    const { result } = await desk.ask<ConfirmAnswer>("confirm_action", { confirmToken })
    const { url, expiresAt, appId } = result
    if (url !== undefined && expiresAt !== undefined) return donePage({ url, expiresAt }, back)
    return seeOther(back === `${desk.base}/add` && appId ? `${desk.base}/apps/${encodeURIComponent(appId)}` : back)
  }
  const action = fieldOf(fields, "action") ?? ""
  const args = argumentsIn(action, fields)
  if (args === null) throw new Fault("invalid_arguments", { detail: "Pages offer no such write." })
  const shown = await desk.ask<PreviewAnswer>("preview_action", { action, args })
  return previewPage(desk, { ...shown, lines: changedLines(shown.preview, WHOLE) }, back)
}

/** The page that the form stood on. */
function backIn({ base }: Desk, fields: URLSearchParams): string {
  const back = fieldOf(fields, "back") ?? base
  return isOwnPath(back) && (back === base || back.startsWith(`${base}/`)) ? back : base
}
