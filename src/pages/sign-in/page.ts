import { SHORTEST_PASSPHRASE } from "../../access/sign-in/passphrase.ts"
import { FORM_FIELD, type Person } from "../../access/sign-in/person.ts"
import { usernameField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"

/** Forms may only be sent to this origin, and no other page can show these pages in a frame. */
export const SIGN_IN_POLICY = pagePolicy({ forms: ["'self'"] })

/** Why the previous attempt failed. */
type TryOutcome = "wrong passphrase" | "wrong code" | "other site" | { waitSeconds: number }

export interface SignInForm {
  /** The path that opens after the sign-in. */
  next: string
  /** False if only one person has a passphrase, because the form need not ask for a name then. */
  asksName: boolean
  /** The name of the OpenID provider. Null without one. */
  provider: string | null
  outcome?: TryOutcome
  /** The code that was typed or is part of a link. */
  code?: string
  name?: string
}

/** Asks for a passphrase or for a code. The code of a link is filled in, but a person must send the form. */
export function signInPage({ next, asksName, provider, outcome, code = "", name = "" }: SignInForm): string {
  const fields = html`<input type="hidden" name="next" value="${next}">`
  const byCode = html`<section>
<h2>With a code</h2>
<p class="quiet"><code>appmeter sign-in</code> on the server prints a code. It works once, within ten minutes.</p>
<form method="post" action="/sign-in">
<label>Code <input name="code" value="${code}" autocomplete="one-time-code" autocapitalize="characters"
 spellcheck="false" placeholder="BCDF-GHJK" required></label>
${fields}<button type="submit">Sign in with the code</button>
</form>
</section>`
  const byPassphrase = html`<section>
<h2>With the passphrase</h2>
<form method="post" action="/sign-in">
${asksName ? nameField(name) : usernameField("")}<label>Passphrase
<input name="passphrase" type="password" autocomplete="current-password" required></label>
${fields}<button type="submit">Sign in</button>
</form>
<p class="quiet">Forgotten? Sign in with a code, then set a new passphrase in your profile.</p>
</section>`
  const byProvider =
    provider !== null &&
    html`<section>
<h2>With ${provider}</h2>
<form method="post" action="/sign-in/oidc">
${fields}<button type="submit">Sign in with ${provider}</button>
</form>
</section>
`
  return layout(
    "Sign in",
    "Sign in to see your apps.",
    html`<p>A key does not sign in here. Without signing in you can look at <a href="/app/sample">a sample</a>.</p>
${outcome && alert(outcomeText(outcome))}${byProvider}${
  code === "" ? [byPassphrase, "\n", byCode] : [byCode, "\n", byPassphrase]
}`,
  )
}

/** Shows a signed-in person a link to continue and a button to sign out. */
export function signedInPage(person: Person, next: string): string {
  return layout(
    "Signed in",
    "Who is signed in at this browser.",
    html`<p>You are <strong>${person.person}</strong>, in the workspace <strong>${person.workspace}</strong>.
Without use, this session ends ${timeOf(person.expiresAt)}.</p>
<p><a href="${next}">Continue${next === "/app" && " to your apps"}</a></p>
<form method="post" action="/sign-out">
<input type="hidden" name="${FORM_FIELD}" value="${person.formToken}">
<button type="submit">Sign out</button>
</form>`,
  )
}

interface PassphraseOffer {
  person: Person
  next: string
  problem?: string
}

/**
 * Offers to set a passphrase to a person who signed in with a code, because otherwise the next sign-in needs a new code
 * from the server.
 */
export function passphraseOffer({ person, next, problem }: PassphraseOffer): string {
  return layout(
    "Set a passphrase",
    "Sign in without a code next time.",
    html`<p>With a passphrase you can sign in without a code from the server.</p>
${problem !== undefined && alert(problem)}<form method="post" action="/sign-in/passphrase">
<input type="hidden" name="${FORM_FIELD}" value="${person.formToken}">
<input type="hidden" name="next" value="${next}">
${nameField(person.person)}${newPassphraseField()}<button type="submit">Set passphrase</button>
</form>
<p><a href="${next}">Not now</a></p>`,
  )
}

interface InvitationForm {
  code: string
  workspace: string
  name: string
  /** The person who is signed in at this browser and can accept the invitation with the same account. */
  person: Person | null
  /** The name by which a proxy signs this person in. Null without a proxy. */
  proxyName: string | null
  /** The name of the OpenID provider. Null without one. */
  provider: string | null
  problem?: string
}

/**
 * Shows an invitation. It is used up only by its form, because link previewers and scanners open links before a person
 * does.
 */
export function invitationPage({
  code,
  workspace,
  name,
  person,
  proxyName,
  provider,
  problem,
}: InvitationForm): string {
  const fields = html`<input type="hidden" name="code" value="${code}">`
  const asSomebodyNew = html`<section>
<h2>${person ? "As somebody else" : "Choose how you sign in"}</h2>
<form method="post" action="/invitation">
${fields}${proxyName === null && [nameField(name), newPassphraseField()]}<button type="submit">Join ${workspace}${
    proxyName !== null && ` as ${proxyName}`
  }</button>
</form>
</section>`
  const byProvider =
    provider !== null &&
    proxyName === null &&
    html`<section>
<h2>With ${provider}</h2>
<form method="post" action="/sign-in/oidc">
${fields}${nameField(name)}<button type="submit">Join ${workspace} with ${provider}</button>
</form>
</section>
`
  const asThisPerson =
    person &&
    html`<section>
<h2>As ${person.person}</h2>
<form method="post" action="/invitation">
${fields}<input type="hidden" name="${FORM_FIELD}" value="${person.formToken}">
<button type="submit" name="as" value="me">Join ${workspace} as ${person.person}</button>
</form>
</section>
`
  return layout(
    `Join ${workspace}`,
    "An invitation to a workspace.",
    html`<p>You are invited to the workspace <strong>${workspace}</strong>.</p>
${problem !== undefined && alert(problem)}${asThisPerson}${byProvider}${asSomebodyNew}`,
  )
}

/** A page with a heading and a text. */
export function noticePage(title: string, text: string): string {
  return layout(title, text, html`<p>${text}</p>`)
}

function nameField(name: string): Html {
  return html`<label>Name <input name="name" value="${name}" autocomplete="username" spellcheck="false"
 required></label>
`
}

function newPassphraseField(): Html {
  return html`<label>Passphrase, at least ${SHORTEST_PASSPHRASE} characters <input name="passphrase" type="password"
 minlength="${SHORTEST_PASSPHRASE}" autocomplete="new-password" required></label>
`
}

function alert(text: string): Html {
  return html`<p role="alert"><strong>${text}</strong></p>\n`
}

function timeOf(at: Date): Html {
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`
}

function outcomeText(outcome: TryOutcome): string {
  if (outcome === "wrong passphrase") return "The name or the passphrase is not right."
  if (outcome === "wrong code") return "This code is not valid: it was used, is older than ten minutes, or is mistyped."
  if (outcome === "other site") return "This form was sent from another site. Send it from here."
  const wait = outcome.waitSeconds === 1 ? "a second" : `${outcome.waitSeconds} seconds`
  return `Too many tries. Wait ${wait}, then try again.`
}
