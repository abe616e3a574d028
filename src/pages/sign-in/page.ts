import { FORM_FIELD, type Owner } from "../../access/sign-in/owner.ts"
import { type Html, html } from "../../ui/html.ts"
import { layout, pagePolicy } from "../../ui/layout.ts"

/** Forms may only be sent to this origin, and no other page can show these pages in a frame. */
export const SIGN_IN_POLICY = pagePolicy({ forms: ["'self'"] })

/** Why the previous attempt failed. */
type TryOutcome = "wrong passphrase" | "wrong code" | "other site" | { waitSeconds: number }

export interface SignInForm {
  /** The path that opens after the sign-in. */
  next: string
  outcome?: TryOutcome
  /** The code as typed or from a link. */
  code?: string
  workspace?: string
}

/** Asks for the passphrase of a workspace or for a code. A link's code is prefilled; a person must send the form. */
export function signInPage({ next, outcome, code = "", workspace = "" }: SignInForm): string {
  const said = outcome && html`<p role="alert"><strong>${outcomeText(outcome)}</strong></p>\n`
  const fields = html`<input type="hidden" name="next" value="${next}">`
  const byCode = html`<section>
<h2>With a code</h2>
<p class="quiet">On the machine that it runs on: <code>appmeter sign-in</code> prints one. It is good once, for ten minutes.</p>
<form method="post" action="/sign-in">
<label>Code <input name="code" value="${code}" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" placeholder="BCDF-GHJK" required></label>
${fields}<button type="submit">Sign in with the code</button>
</form>
</section>`
  const byPassphrase = html`<section>
<h2>With the passphrase</h2>
<p class="quiet">Of a workspace whose owner has set one: <code>appmeter workspace passphrase NAME</code>.</p>
<form method="post" action="/sign-in">
<label>Workspace <input name="workspace" value="${workspace}" autocomplete="username" spellcheck="false" required></label>
<label>Passphrase <input name="passphrase" type="password" autocomplete="current-password" required></label>
${fields}<button type="submit">Sign in</button>
</form>
</section>`
  return layout(
    "Sign in",
    "Sign in as the owner of a workspace.",
    html`<p>As the owner of a workspace. A key does not sign in here: keep it where it is. Without
signing in there is <a href="/app/sample">a sample</a> to look at.</p>
${said}${code === "" ? [byPassphrase, "\n", byCode] : [byCode, "\n", byPassphrase]}`,
  )
}

/** Shows a signed-in owner a link to continue and a button to sign out. */
export function signedInPage(owner: Owner, next: string): string {
  return layout(
    "Signed in",
    "Who is signed in at this browser.",
    html`<p>As the owner of <strong>${owner.workspace}</strong>, until ${timeOf(owner.expiresAt)}.</p>
<p><a href="${next}">Go on${next === "/app" && " to your apps"}</a></p>
<form method="post" action="/sign-out">
<input type="hidden" name="${FORM_FIELD}" value="${owner.formToken}">
<button type="submit">Sign out</button>
</form>`,
  )
}

/** A page with a heading and a text. */
export function noticePage(title: string, text: string): string {
  return layout(title, text, html`<p>${text}</p>`)
}

function timeOf(at: Date): Html {
  const iso = at.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`
}

function outcomeText(outcome: TryOutcome): string {
  if (outcome === "wrong passphrase") return "The workspace or its passphrase is not right."
  if (outcome === "wrong code")
    return "This code lets nobody in: it was used, is older than ten minutes, or is mistyped."
  if (outcome === "other site") return "This form was sent from another site. Send it from here."
  const wait = outcome.waitSeconds === 1 ? "a second" : `${outcome.waitSeconds} seconds`
  return `Too many tries. Wait ${wait}, then try again.`
}
