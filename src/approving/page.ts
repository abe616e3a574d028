import type { Approval } from "../actions/approvals.ts"
import { changedLines, WHOLE } from "../actions/changed-lines.ts"
import { type Html, html } from "../pages/html.ts"
import { layout, pagePolicy } from "../pages/layout.ts"
import { FORM_FIELD, type Owner } from "../sign-in/owner.ts"

/** Its form goes to this origin alone, and no page of another can hold it in a frame. */
export const APPROVAL_POLICY = pagePolicy({ forms: ["'self'"] })

/** What would be written, whole, with a yes and a no; or what became of it. All in it but our own words is data. */
export function approvalPage(approval: Approval, { formToken }: Owner, now: Date): string {
  const { id, action, shown, key } = approval
  const lines = changedLines(shown, WHOLE)
  const said = outcomeOf(approval, now)
  return layout(
    said ? "Nothing to approve" : "Approve a write",
    "What an assistant is to write.",
    html`<p>${said ?? html`An assistant with the key <strong>${key.name ?? `key ${key.id}`}</strong> is to do this, until ${timeOf(approval.expiresAt)}:`}</p>
<section>
<h2>${shown.summary}</h2>
<p class="quiet"><code>${action}</code> of ${shown.target.name}</p>
${lines.map((line) => html`<pre>${line}</pre>\n`)}${shown.notes.length > 0 && html`<ul>${shown.notes.map((note) => html`<li>${note}</li>`)}</ul>\n`}<p>${shown.destructive && "It takes something away, or shows it to the world. "}It costs ${shown.credits} ${shown.credits === 1 ? "credit" : "credits"}.</p>
</section>
${
  !said &&
  html`<form method="post" action="/approve/${id}">
<input type="hidden" name="${FORM_FIELD}" value="${formToken}">
<button type="submit" name="verdict" value="approve">Approve</button>
<button type="submit" name="verdict" value="decline">Decline</button>
</form>
`
}<p><a href="/approve">What else waits</a></p>`,
  )
}

/** Null while it waits. */
function outcomeOf({ verdict, decidedBy, expiresAt }: Approval, now: Date): Html | null {
  if (verdict !== null) return html`This was <strong>${verdict}</strong> by ${decidedBy}.`
  return expiresAt <= now ? html`This expired at ${timeOf(expiresAt)}: whoever wanted it previews it again.` : null
}

/** All that waits in the workspace. */
export function waitingPage(approvals: readonly Approval[]): string {
  const rows = approvals.map(
    ({ id, shown, key, expiresAt }) =>
      html`<li><a href="/approve/${id}">${shown.summary}</a> <span class="quiet">${key.name}, until ${timeOf(expiresAt)}</span></li>`,
  )
  const none = html`<p>Nothing waits. Which writes need an approval is said on the machine: <code>appmeter approval require</code>.</p>`
  return layout(
    "Waiting for approval",
    "What assistants are to write.",
    rows.length > 0 ? html`<ul>${rows}</ul>` : none,
  )
}

/** Of an address that names nothing, or a form that was not sent from its page. */
export function noApprovalPage(why?: "form"): string {
  const text =
    why === "form" ? "Open the page again, and send its form as it is shown." : "Nothing waits here for this workspace."
  return layout("Not understood", text, html`<p>${text}</p>`)
}

function timeOf(at: Date): Html {
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`
}
