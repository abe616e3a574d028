import { isOwnPath } from "../../access/sign-in/owner.ts"
import { Fault } from "../../lib/faults.ts"
import { changedLines, WHOLE } from "../../tracking/actions/changed-lines.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import type { Desk, Page } from "../../ui/app/desk.ts"
import { argumentsIn, donePage, previewPage } from "../../ui/app/write/form.ts"
import { fieldOf } from "../../ui/form.ts"

/** Previews a write from a page's form. Confirms it when the preview's form is sent. */
export async function writeFromPage(desk: Desk, fields: URLSearchParams): Promise<Page | PageAnswer> {
  const back = backIn(desk, fields)
  const confirmToken = fieldOf(fields, "confirmToken")
  if (confirmToken !== undefined) {
    const { result } = await desk.ask("confirm_action", { confirmToken })
    // null if a job performs the write
    const { url, expiresAt, appId } = result ?? {}
    if (url !== undefined && expiresAt !== undefined) return donePage({ url, expiresAt }, back)
    return seeOther(back === `${desk.base}/add` && appId ? `${desk.base}/apps/${encodeURIComponent(appId)}` : back)
  }
  const action = fieldOf(fields, "action") ?? ""
  const args = argumentsIn(action, fields)
  if (args === null) throw new Fault("invalid_arguments", { detail: "Pages offer no such write." })
  const previewed = await desk.ask("preview_action", { action, args })
  return previewPage(desk, { ...previewed, lines: changedLines(previewed.preview, WHOLE) }, back)
}

/** Returns the page that contained the form. */
function backIn({ base }: Desk, fields: URLSearchParams): string {
  const back = fieldOf(fields, "back") ?? base
  return isOwnPath(back) && (back === base || back.startsWith(`${base}/`)) ? back : base
}
