import { isLoopback, redirectHost } from "../../access/oauth/redirects.ts"
import type { AuthorizationRequest } from "../../access/oauth/request.ts"
import { MONEY_SCOPES, SCOPE_MEANINGS, SCOPES, type Scope } from "../../access/scopes.ts"
import { FORM_FIELD, type Person } from "../../access/sign-in/person.ts"
import { type Html, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"

/** Policy: the form may be sent to this origin only, and no other page can show this page in a frame (clickjacking). */
export const CONSENT_POLICY = pagePolicy({ forms: ["'self'"] })

interface Consent {
  request: AuthorizationRequest
  /** The query of the request, which the form sends back to be checked again. */
  query: string
  person: Person
  apps: readonly { id: string; name: string }[]
  /** The error in the submitted form. */
  problem?: string
}

/** Shows the client, its redirect address, the workspace, the scopes and the apps of a request for consent. */
export function consentPage({ request, query, person, apps, problem }: Consent): string {
  const { client, redirectUri, scopes } = request
  // An assistant never gets a right that its person does not have.
  const allowed = SCOPES.filter((scope) => person.scopes.includes(scope))
  const requested = scopes.length > 0 ? allowed.filter((scope) => scopes.includes(scope)) : allowed
  const further = allowed.filter((scope) => !requested.includes(scope))
  return layout(
    `Let ${client.name} in?`,
    "A client asks to call for the owner of a workspace.",
    html`<p><strong>${client.name}</strong> asks to call for the workspace <strong>${person.workspace}</strong>.</p>
<ul>
<li>${identityOf(request)}</li>
<li>The answer goes to <strong>${redirectHost(redirectUri)}</strong>.</li>
</ul>
${
  isLoopback(redirectUri) &&
  html`<p>That is a program on the machine of this browser, and any program there can use this name. Go on only
if you have just started it yourself.</p>\n`
}${problem !== undefined && html`<p role="alert"><strong>${problem}</strong></p>\n`}
<form method="post" action="/oauth/authorize">
<input type="hidden" name="request" value="${query}">
<input type="hidden" name="${FORM_FIELD}" value="${person.formToken}">
<fieldset class="choices"><legend>It may</legend>
${requested.map((scope) => scopeChoice(scope, scopes))}${
  further.length > 0 &&
  html`<details><summary>More that it did not ask for</summary>
${further.map((scope) => scopeChoice(scope, scopes))}</details>
`
}</fieldset>
<fieldset class="choices"><legend>With</legend>
<label><input type="radio" name="apps" value="all" checked> every app of the workspace, also those added later</label>
${apps.length > 0 && html`<label><input type="radio" name="apps" value="some"> only with these:</label>\n`}${apps.map(
  ({ id, name }) => html`<label><input type="checkbox" name="app" value="${id}"> ${name}</label>\n`,
)}</fieldset>
<button class="other" type="submit" name="decision" value="deny">Refuse</button>
<button type="submit" name="decision" value="allow">Let it in</button>
</form>
<p class="quiet">What it calls costs credits of the workspace. The command <code>appmeter key list</code> shows it
then, and <code>appmeter key revoke</code> ends it.</p>
<form method="post" action="/sign-out">
<input type="hidden" name="${FORM_FIELD}" value="${person.formToken}">
<button class="other" type="submit">Sign out of ${person.workspace}</button>
</form>`,
  )
}

/**
 * A page that opens the address by itself (header Refresh) or by a link. It is not a redirect, because browsers apply
 * the form policy to redirects after a form.
 */
export function leavingPage(name: string, address: string): string {
  return layout("Done", "Back to the client.", html`<p><a href="${address}">Go back to ${name}</a></p>`)
}

interface Refusal {
  client: AuthorizationRequest["client"]
  redirectUri: string
  reason: string
  /** The redirect address with the error in its query. */
  address: string
}

/** Shows the address to which the refused client wants the response sent, and opens it only when the person clicks. */
export function refusalPage({ client, redirectUri, reason, address }: Refusal): string {
  return layout(
    "This request is not valid",
    "The client sent a request that cannot be answered.",
    html`<p><strong>${client.name}</strong> cannot sign in: ${reason}</p>
<p>It registered itself under that name, which anybody can do. Its address is <strong>${redirectUri}</strong>.</p>
<p><a href="${address}" rel="noreferrer">Tell it so, at ${redirectHost(redirectUri)}</a></p>`,
  )
}

/**
 * Returns whether the scope is preselected: exactly those that the client requests or, if it requests none, reads
 * without money.
 */
function isTicked(scope: Scope, requestedScopes: readonly Scope[]): boolean {
  if (requestedScopes.length > 0) return requestedScopes.includes(scope)
  return !scope.endsWith(":write") && !MONEY_SCOPES.includes(scope) && scope !== "hive:measure"
}

function scopeChoice(scope: Scope, requestedScopes: readonly Scope[]): Html {
  const note = requestedScopes.includes(scope) ? " (it asks for this)" : ""
  return html`<label><input type="checkbox" name="scope" value="${scope}"${
    isTicked(scope, requestedScopes) && html` checked`
  }> <code>${scope}</code> ${SCOPE_MEANINGS[scope]}${note}</label>\n`
}

function identityOf({ client }: AuthorizationRequest): Html {
  if (client.host === null)
    return html`It registered itself: anybody can do that under any name. Look at where the answer goes.`
  return html`Its name is vouched for by <strong>${client.host}</strong>.`
}
