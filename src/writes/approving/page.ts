import type { Scope } from "../../access/scopes.ts"
import { FORM_FIELD, type Person } from "../../access/sign-in/person.ts"
import { changesPart } from "../../ui/changes.ts"
import { type Html, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"
import type { Approval } from "../approvals.ts"

/** Forms may only be sent to this origin, and no other page may frame it. */
export const APPROVAL_POLICY = pagePolicy({ forms: ["'self'"] })

/**
 * Renders the complete write with buttons to approve or decline it, or its outcome. Everything except our own text is
 * escaped as data.
 */
export function approvalPage(approval: Approval, { formToken }: Person, now: Date): string {
  const { id, key, expiresAt } = approval
  const outcome = outcomeOf(approval, now)
  const keyName = key.name ?? `key ${key.id}`
  return layout(
    outcome ? "Nothing to approve" : "Approve a change",
    "A change that an assistant wants to make.",
    html`<p>${
      outcome ??
      html`An assistant with the key <strong>${keyName}</strong> wants to make this change.
It waits until ${timeOf(expiresAt)}.`
    }</p>
${writePart(approval)}${
  !outcome &&
  html`<form class="verdict" method="post" action="/approve/${id}">
<input type="hidden" name="${FORM_FIELD}" value="${formToken}">
<button type="submit" name="verdict" value="approve">Approve</button>
<button class="other" type="submit" name="verdict" value="decline">Decline</button>
</form>
`
}<p><a href="/approve">All waiting changes</a></p>`,
  )
}

function writePart({ shown }: Pick<Approval, "shown">): Html {
  const { summary, target, notes, destructive } = shown
  return html`<section>
<h2>${summary}</h2>
<p class="quiet">${target.name}</p>
${changesPart(shown)}${notes.length > 0 && html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>\n`}${
  destructive && html`<p><strong>This removes or publishes something.</strong></p>`
}
</section>
`
}

/** Null while it is pending. */
function outcomeOf({ verdict, decidedBy, expiresAt }: Approval, now: Date): Html | null {
  if (verdict !== null) return html`This was <strong>${verdict}</strong> by ${decidedBy}.`
  return expiresAt <= now ? html`This expired on ${timeOf(expiresAt)}. The assistant can preview it again.` : null
}

/** Lists the pending approvals of the workspace. */
export function waitingPage(approvals: readonly Approval[]): string {
  const rows = approvals.map(
    ({ id, shown, key, expiresAt }) =>
      html`<li><a href="/approve/${id}">${shown.summary}</a>
<span class="quiet">${key.name}, until ${timeOf(expiresAt)}</span></li>`,
  )
  const none = html`<section>
<h2>Nothing is waiting</h2>
<p>An assistant previews each change before it makes it. You can require your approval as well: each change then waits
here for ten minutes, exactly as previewed, until you approve or decline it. The assistant cannot approve it.</p>
<p><a href="/app/settings/keys">Choose the keys whose changes wait</a>, or
<a href="/approve/sample">see an example</a>.</p>
</section>
<p><a href="/app/changes">All changes made</a></p>`
  return layout(
    "Waiting for approval",
    "Changes that assistants want to make.",
    rows.length > 0 ? html`<ul>${rows}</ul>` : none,
  )
}

/** A made-up write for the sample page. It belongs to no workspace and cannot be approved. */
const SAMPLE: Pick<Approval, "shown"> = {
  shown: {
    summary: 'Track 2 keywords of "Lumen Journal (invented)" in the United States.',
    target: { kind: "app", id: "app_lumenjournal", name: "Lumen Journal (invented)" },
    before: { tracked: [{ countries: ["us"], keywords: [] }] },
    after: { tracked: [{ countries: ["us"], keywords: ["evening pages", "habit journal"] }] },
    notes: ['Already tracked, and not added twice: "mood diary".'],
    credits: 1,
    destructive: false,
  },
}

/** Shows a sample approval, for owners without a pending one. */
export function sampleApprovalPage(): string {
  return layout(
    "What an approval looks like",
    "An example of a change that an assistant wants to make.",
    html`<p><strong>Invented:</strong> no assistant asked for this, and the buttons do nothing. A real request names the
assistant's key and how long it waits.</p>
${writePart(SAMPLE)}<form class="verdict">
<button type="button" disabled="">Approve</button>
<button class="other" type="button" disabled="">Decline</button>
</form>
<p>Until somebody approves it here, or with <code>appmeter approve</code> on the machine, the assistant's confirm is
refused: nothing is written and nothing is charged. <a href="/approve">Waiting changes</a></p>`,
  )
}

/** The response to an unknown address, or to a form that was not sent from its page. */
export function noApprovalPage(why?: "form" | "apps" | Scope): string {
  if (why === "form")
    return layout(
      "The form was not accepted",
      "The form was not sent from its page.",
      html`<p>Nothing was decided. Open the page again and send its form as it is shown.</p>`,
    )
  const text = reasonFor(why)
  return layout("Nothing to approve", text, html`<p>${text}</p>`)
}

function reasonFor(why?: "apps" | Scope): string {
  if (why === undefined) return "This change is not waiting in your workspace."
  if (why === "apps")
    return "You can see only some apps of this workspace. Somebody who can see all of them must approve."
  return `You lack the right to make this change (${why}). Somebody who has the right must approve or decline it.`
}

function timeOf(at: Date): Html {
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`
}
