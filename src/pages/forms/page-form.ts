import { Fault } from "../../lib/faults.ts"
import { ownValue } from "../../lib/objects.ts"
import type { BadLine } from "../../tracking/keyword-file.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { MADE, type Page, type PageContext, type RefusedForm, readHead } from "../../ui/app/context.ts"
import { previewPage, type WritePreview } from "../../ui/app/write/preview.ts"
import { SKIPPED, skippedCode } from "../../ui/app/write/skipped.ts"
import { FormProblem } from "../../ui/fields.ts"

/** Handles a form of /app. src/pages/forms.ts lists all forms by their action. */
export interface PageForm {
  /** Returns the next page, or a redirect. Throws FormProblem or a Fault; the form is then shown again. */
  send(context: PageContext, fields: URLSearchParams, back: string): Promise<Page | PageAnswer>
  /** Rules for fields, by the argument of the operation. */
  rules: Readonly<Record<string, FieldRule>>
}

/** Explains a refused argument in the words of the form. */
interface FieldRule {
  /** The field of the form that sets the argument. */
  field: string
  /** An instruction to the person: "Enter a whole number from 1 to 30." */
  rule: string
  /**
   * True if the operation's own message is shown instead when it has one, for example what a store reports about an
   * app.
   */
  showsDetail?: true
}

interface WriteForm extends Pick<PageForm, "rules"> {
  action: string
  /** Reads the arguments of the write. Throws FormProblem. */
  read(fields: URLSearchParams): Record<string, unknown>
  /** The text of the confirming button: "Remove 3 keywords". */
  button(args: Record<string, unknown>): string
  /** Splits arguments that contain a list which is too long for one write. Default: no split. */
  split?(args: Record<string, unknown>): Record<string, unknown>[]
  /** Returns the fields with which the preview of one piece passes on the remaining pieces. */
  carry?(pieces: readonly Record<string, unknown>[]): Readonly<Record<string, string>>
}

/** A form that shows the preview of a write, which a second form confirms. */
export function previewed({ action, read, button, rules }: WriteForm): PageForm {
  return {
    rules,
    async send(context, fields, back) {
      const args = read(fields)
      return previewPage(context, await previewOf(context, action, args), { button: button(args), back })
    },
  }
}

/**
 * A form that makes a change at once and offers to undo it. It sends the hash of the app that its page showed. If the
 * app has changed since then, or the change needs an approval, the preview is shown instead.
 */
export function atOnce(form: WriteForm): PageForm {
  return {
    rules: form.rules,
    async send(context, fields, back) {
      const args = form.read(fields)
      const isAsShown = await isStateShown(context, fields)
      return await writeAtOnce(context, form, { args, back, isAsShown })
    },
  }
}

interface AtOnce {
  args: Record<string, unknown>
  back: string
  isAsShown: boolean
}

/**
 * Writes the pieces one after another. Shows the preview of the first piece that must be confirmed. If there is nothing
 * to change, shows a preview that reports it.
 */
export async function writeAtOnce(
  context: PageContext,
  { action, button, split = (args) => [args], carry = () => ({}) }: Omit<WriteForm, "read" | "rules">,
  { args, back, isAsShown }: AtOnce,
): Promise<Page | PageAnswer> {
  let unchanged: Page | null = null
  let hasWritten = false
  const pieces = split(args)
  for (const [at, piece] of pieces.entries()) {
    const write = await previewOf(context, action, piece)
    const isChange = JSON.stringify(write.preview.before) !== JSON.stringify(write.preview.after)
    const page = previewPage(context, write, { button: button(piece), back, fixed: carry(pieces.slice(at + 1)) })
    if (isChange && (!isAsShown || write.approval !== null)) return page
    if (isChange) await context.ask("confirm_edit", { confirmToken: write.confirmToken })
    else unchanged = page
    hasWritten ||= isChange
  }
  return unchanged !== null && !hasWritten ? unchanged : seeOther(withMade(context, back))
}

async function previewOf(context: PageContext, action: string, args: Record<string, unknown>): Promise<WritePreview> {
  return (await context.ask("preview_edit", { action, args })) as WritePreview
}

/** Returns whether the app is still as the page showed it. True for a form without an app. */
async function isStateShown(context: PageContext, fields: URLSearchParams): Promise<boolean> {
  const appId = fields.get("appId")
  return appId === null || (await readHead(context, appId)).version === fields.get("seen")
}

/** Returns the address with the id of this request added, so that the page reports the changes of the request. */
export function withMade({ requestId }: PageContext, back: string): string {
  return `${back}${back.includes("?") ? "&" : "?"}${MADE}=${requestId}`
}

/** Returns the refused form with a message at each wrong field. Null if the problem is not about the form. */
export function refusalOf(
  error: unknown,
  { form, fields }: { form: PageForm | undefined; fields: URLSearchParams },
): RefusedForm | null {
  const sent = { id: fields.get("form-id") ?? "", values: fields }
  if (error instanceof FormProblem) return { ...sent, errors: error.errors, message: NOTHING_CHANGED }
  if (!(error instanceof Fault) || !isAboutInput(error)) return null
  const errors = fieldErrors(error, form?.rules ?? {})
  if (Object.keys(errors).length > 0) return { ...sent, errors, message: NOTHING_CHANGED }
  return { ...sent, errors: {}, message: textOf(error) }
}

/** Returns the address with the skipped lines of a file added, so that the page reports them. */
export function withSkipped(back: string, bad: readonly BadLine[]): string {
  if (bad.length === 0) return back
  return `${back}${back.includes("?") ? "&" : "?"}${new URLSearchParams({ [SKIPPED]: skippedCode(bad) })}`
}

const NOTHING_CHANGED = "Nothing was changed. Please check the form."

/** Returns whether the fault is about the input. Other faults end the session, or are answered as on other surfaces. */
function isAboutInput({ status }: Fault): boolean {
  return status !== 401 && status !== 429 && status < 500
}

interface Problem {
  field?: string
  detail?: string
}

/**
 * Returns the messages by field. `problems` lists arguments with an invalid value or type; a single `detail` is a
 * sentence for a person.
 */
function fieldErrors({ extra }: Fault, rules: PageForm["rules"]): Record<string, string> {
  const { problems, field, detail } = extra as Problem & { problems?: Problem[] }
  const errors: Record<string, string> = {}
  for (const { field: name = "" } of problems ?? []) {
    const rule = ownValue(rules, name)
    if (rule) errors[rule.field] = rule.rule
  }
  const single = field === undefined || problems ? undefined : ownValue(rules, field)
  if (single) errors[single.field] = (single.showsDetail && detail) || single.rule
  return errors
}

/** Returns what is wrong and what to do, without names that only programs use. */
function textOf({ code, message, extra }: Fault): string {
  const { reason, detail } = extra as { reason?: string; detail?: string }
  return ownValue(WORDS, code) ?? ownValue(WORDS, reason ?? "") ?? reason ?? detail ?? message
}

const WORDS: Readonly<Record<string, string>> = {
  approval_declined: "This change was declined. Nothing was changed.",
  approval_needed: "This change needs an approval. Approve it under Changes, then send the form again.",
  confirm_token_expired: "The preview has expired, and nothing was changed. Please fill in the form again.",
  confirm_token_invalid: "This preview was confirmed already, or is not valid any more. Nothing was changed.",
  confirm_token_mismatch: "Something changed since the preview, so nothing was done. Please look again.",
  in_progress: "Another change of this is being made. Nothing was done; please try again in a moment.",
  not_found: "This is not in your workspace any more. Nothing was changed.",
  scope_required: "You may not do this, and nothing was changed. An owner of the workspace can give you the right.",
}
