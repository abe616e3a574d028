import { FORM_FIELD, type Owner } from "../../access/sign-in/owner.ts"
import { changedLines, WHOLE } from "../../tracking/actions/changed-lines.ts"
import { type Html, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"
import type { Approval } from "../approvals.ts"

/** Forms may only be sent to this origin, and no other page may frame it. */
export const APPROVAL_POLICY = pagePolicy({ forms: ["'self'"] })

/**
 * Renders the complete write with buttons to approve or decline it, or its outcome. Everything except our own text is
 * escaped as data.
 */
export function approvalPage(approval: Approval, { formToken }: Owner, now: Date): string {
  const { id, key } = approval
  const outcome = outcomeOf(approval, now)
  const request = html`An assistant with the key <strong>${key.name ?? `key ${key.id}`}</strong> is to do this, until
${timeOf(approval.expiresAt)}:`
  return layout(
    outcome ? "Nothing to approve" : "Approve a write",
    "What an assistant is to write.",
    html`<p>${outcome ?? request}</p>
${writePart(approval)}${
  !outcome &&
  html`<form method="post" action="/approve/${id}">
<input type="hidden" name="${FORM_FIELD}" value="${formToken}">
<button type="submit" name="verdict" value="approve">Approve</button>
<button type="submit" name="verdict" value="decline">Decline</button>
</form>
`
}<p><a href="/approve">What else waits</a></p>`,
  )
}

function writePart({ action, shown }: Pick<Approval, "action" | "shown">): Html {
  const lines = changedLines(shown, WHOLE)
  return html`<section>
<h2>${shown.summary}</h2>
<p class="quiet"><code>${action}</code> of ${shown.target.name}</p>
${lines.map((line) => html`<pre>${line}</pre>\n`)}${
  shown.notes.length > 0 && html`<ul>${shown.notes.map((note) => html`<li>${note}</li>`)}</ul>\n`
}<p>${shown.destructive && "It takes something away, or shows it to the world. "}
It costs ${shown.credits} ${shown.credits === 1 ? "credit" : "credits"}.</p>
</section>
`
}

/** Null while it is pending. */
function outcomeOf({ verdict, decidedBy, expiresAt }: Approval, now: Date): Html | null {
  if (verdict !== null) return html`This was <strong>${verdict}</strong> by ${decidedBy}.`
  return expiresAt <= now ? html`This expired at ${timeOf(expiresAt)}: whoever wanted it previews it again.` : null
}

/** Lists the pending approvals of the workspace. */
export function waitingPage(approvals: readonly Approval[]): string {
  const rows = approvals.map(
    ({ id, shown, key, expiresAt }) =>
      html`<li><a href="/approve/${id}">${shown.summary}</a>
<span class="quiet">${key.name}, until ${timeOf(expiresAt)}</span></li>`,
  )
  const none = html`<section>
<h2>Nothing waits</h2>
<p>An assistant previews each write before it makes it. Have writes approved here first, and each of them stands here
for ten minutes, as it was previewed, until you approve or decline it; the assistant cannot:</p>
<pre>appmeter approval require all</pre>
<p><a href="/approve/sample">What one looks like</a></p>
</section>
<p><a href="/app/changes">What was changed so far</a></p>`
  return layout(
    "Waiting for approval",
    "What assistants are to write.",
    rows.length > 0 ? html`<ul>${rows}</ul>` : none,
  )
}

/** A made-up write for the sample page. It belongs to no workspace and cannot be approved. */
const SAMPLE: Pick<Approval, "action" | "shown"> = {
  action: "add_keywords",
  shown: {
    summary: 'Track 2 keywords of "Lumen Journal (invented)" in us.',
    target: { kind: "app", id: "app_lumenjournal", name: "Lumen Journal (invented)" },
    before: { tracked: [{ countries: ["us"], keywords: [] }] },
    after: { tracked: [{ countries: ["us"], keywords: ["evening pages", "habit journal"] }] },
    notes: ['Tracked already in us, and not added twice: "mood diary".'],
    credits: 1,
    destructive: false,
  },
}

/** Shows a sample approval, for owners without a pending one. */
export function sampleApprovalPage(): string {
  return layout(
    "What an approval looks like",
    "A sample of what an assistant is to write.",
    html`<p><strong>Invented:</strong> no assistant asked for this, and no button here does anything. Of a write that
waits, an assistant's key is named, and until when:</p>
${writePart(SAMPLE)}<form>
<button type="button" disabled="">Approve</button>
<button type="button" disabled="">Decline</button>
</form>
<p>Until somebody says yes here, or with <code>appmeter approve</code> on the machine, the assistant's confirm is
refused; nothing is written and nothing charged. <a href="/approve">What waits for you</a></p>`,
  )
}

/** The response to an unknown address, or to a form that was not sent from its page. */
export function noApprovalPage(why?: "form"): string {
  const text =
    why === "form" ? "Open the page again, and send its form as it is shown." : "Nothing waits here for this workspace."
  return layout("Not understood", text, html`<p>${text}</p>`)
}

function timeOf(at: Date): Html {
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`
}
