import { isOwnPath } from "../../access/sign-in/person.ts"
import { Fault } from "../../lib/faults.ts"
import { ownValue } from "../../lib/objects.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import type { Page, PageContext, RefusedForm } from "../../ui/app/context.ts"
import { donePage } from "../../ui/app/write/preview.ts"
import { FormProblem } from "../../ui/fields.ts"
import { fieldOf } from "../../ui/form.ts"
import { refusalOf, withMade } from "../forms/page-form.ts"
import { addRest } from "../forms/tracking.ts"
import { FORMS } from "../forms.ts"

/** A refused form. Its page shows it again with the values that were sent. */
interface Refusal {
  status: number
  back: string
  refused: RefusedForm
}

/** Handles a form of a page: confirms a preview, or performs the action that the form names. */
export async function writeFromPage(
  context: PageContext,
  fields: URLSearchParams,
): Promise<Page | PageAnswer | Refusal> {
  const back = backIn(context, fields)
  const confirmToken = fieldOf(fields, "confirmToken")
  const form = ownValue(FORMS, fieldOf(fields, "action") ?? "")
  try {
    if (confirmToken !== undefined) return await confirmWrite(context, fields, back)
    if (form === undefined) throw new Fault("invalid_arguments", { detail: "This page has no such form." })
    return await form.send(context, fields, back)
  } catch (error) {
    const refused = refusalOf(error, { form, fields })
    if (refused === null) throw error
    return { status: error instanceof FormProblem ? 400 : (error as Fault).status, back, refused }
  }
}

async function confirmWrite(context: PageContext, fields: URLSearchParams, back: string): Promise<Page | PageAnswer> {
  const confirmToken = fieldOf(fields, "confirmToken") ?? ""
  const { action, result } = await context.ask("confirm_edit", { confirmToken })
  const { url, expiresAt, appId } = (result ?? {}) as { url?: string; expiresAt?: string; appId?: string }
  if (url !== undefined && expiresAt !== undefined) return donePage({ url, expiresAt }, back)
  const app = appId === undefined ? back : `${context.base}/apps/${encodeURIComponent(appId)}`
  const next = action === "add_app" ? app : action === "remove_app" ? context.base : back
  const rest = fieldOf(fields, "rest")
  if (appId !== undefined && rest !== undefined) return await addRest(context, { appId, rest }, next)
  return seeOther(withMade(context, next))
}

/** Returns the page that contained the form. */
export function backIn({ base }: PageContext, fields: URLSearchParams, name = "back"): string {
  const back = fieldOf(fields, name) ?? base
  return isOwnPath(back) && /^(?:[/?]|$)/.test(back.slice(base.length)) && back.startsWith(base) ? back : base
}
