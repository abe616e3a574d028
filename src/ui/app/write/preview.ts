import { changesPart } from "../../changes.ts"
import { html } from "../../html.ts"
import { momentTime } from "../../times.ts"
import { counted } from "../../words.ts"
import type { Page, PageContext } from "../context.ts"
import { card } from "../parts.ts"
import { hiddenFields } from "./form.ts"

/** The preview of a write, as the operation returns it. */
export interface WritePreview {
  preview: {
    summary: string
    notes: string[]
    before: Record<string, unknown>
    after: Record<string, unknown>
  }
  credits: number
  destructive: boolean
  confirmToken: string
  expiresAt: string
  approval: { id: string } | null
}

interface PreviewOptions {
  /** Names the action: "Add app". */
  button: string
  back: string
  /** Fields that are also sent by the confirming form. */
  fixed?: Readonly<Record<string, string>>
}

/** Shows what a write would change, and the button that confirms it. There is no button if nothing would change. */
export function previewPage(
  context: PageContext,
  write: WritePreview,
  { button, back, fixed = {} }: PreviewOptions,
): Page {
  const { preview, credits, destructive, confirmToken, expiresAt, approval } = write
  const changes = changesPart(preview)
  const fields = { back, confirmToken, ...fixed }
  const hidden = hiddenFields([...context.formFields, ...Object.entries(fields)])
  return {
    title: changes ? button : "Nothing to change",
    at: "none",
    body: card(
      preview.summary,
      html`<div class="inside">${changes}${preview.notes.map((note) => html`<p class="quiet">${note}</p>`)}${
        changes && approval && approvalPart(context)
      }${changes && destructive && html`<p><span class="tag warn">Removes or publishes something</span></p>`}${
        changes &&
        html`<p class="small quiet">
${
  context.isMetered() && credits > 0 && `${counted(credits, "credit")} · `
}This preview is valid until ${momentTime(expiresAt)}.</p>`
      }</div>
${
  changes
    ? html`<form class="filters" method="post" action="${context.base}/write">
${hidden}<button class="main" type="submit">${button}</button> <a class="button quiet" href="${back}">Cancel</a></form>`
    : html`<p class="pages"><a class="button" href="${back}">Back</a></p>`
}`,
    ),
  }
}

function approvalPart(context: PageContext) {
  const page = html`<a href="${context.base}/changes" target="_blank" rel="noopener">Changes</a>`
  return html`<p>This workspace requires an approval. Approve the change under ${page}, then come back to this page.
</p>`
}

/** Shows the address of a share link, which is shown only once. */
export function donePage({ url, expiresAt }: { url: string; expiresAt: string }, back: string): Page {
  return {
    title: "Link created",
    at: "none",
    body: card(
      "Link to share",
      html`<div class="inside"><p><a href="${url}">${url}</a></p>
<p class="quiet">Anyone with this link sees the page until ${momentTime(expiresAt)}. Copy it now: it is not shown again.
</p>
<p><a href="${back}">Back</a></p></div>`,
    ),
  }
}
