import type { People, Person } from "../access/sign-in/person.ts"
import { PROOF_CODE_FIELD, PROOF_FIELD, type ProofProblem } from "../access/sign-in/proof.ts"
import type { PageAnswer } from "./answer.ts"
import { USERNAME_FIELD, usernameField } from "./fields.ts"
import { fieldOf } from "./form.ts"
import { type Html, html } from "./html.ts"
import { layout, pagePolicy } from "./layout.ts"
import type { PageVisit } from "./routes.ts"

/** The form may only be sent to this origin, and no other page can show it in a frame. */
const PROOF_POLICY = pagePolicy({ forms: ["'self'"] })

/**
 * Returns the page that asks for the passphrase before a sensitive change. Null if the person has entered it in the
 * last ten minutes, or enters it in this form; `person.isProved` is true then.
 */
export async function askProof(
  { people }: { people: Pick<People, "prove"> },
  person: Person,
  { path, address }: Pick<PageVisit, "path" | "address">,
  fields: URLSearchParams,
): Promise<PageAnswer | null> {
  if (person.isProved) return null
  const typed = fieldOf(fields, PROOF_FIELD)
  const code = fieldOf(fields, PROOF_CODE_FIELD) ?? ""
  const problem = typed === undefined ? undefined : await people.prove(person, { typed, code, address })
  if (problem === null) {
    person.isProved = true
    return null
  }
  const headers = { "content-security-policy": PROOF_POLICY }
  return { status: 403, headers, body: proofPage({ path, fields, person, ...(problem && { problem }) }) }
}

interface ProofQuestion {
  /** The path that the held-back form was sent to. */
  path: string
  fields: URLSearchParams
  person: Pick<Person, "person" | "hasPassphrase" | "hasSecondFactor" | "via">
  problem?: ProofProblem
}

/**
 * Asks for the passphrase before a sensitive change. The interrupted form is sent again together with the passphrase,
 * so no input is lost.
 */
function proofPage({ path, fields, person, problem }: ProofQuestion): string {
  const { person: name, hasPassphrase, hasSecondFactor, via } = person
  const proofFields = [PROOF_FIELD, PROOF_CODE_FIELD, USERNAME_FIELD]
  const hidden = [...fields].filter(([field]) => !proofFields.includes(field))
  const label = hasPassphrase ? "Passphrase" : "Code"
  const kind = hasPassphrase
    ? html`type="password" autocomplete="current-password"`
    : html`autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" placeholder="BCDF-GHJK"`
  return layout(
    "Confirm that it is you",
    "A sensitive change asks for the passphrase again.",
    html`<p>${hasPassphrase ? BY_PASSPHRASE : BY_CODE}${!hasPassphrase && via === "oidc" && BY_SIGNING_IN}</p>
${problem && html`<p role="alert"><strong>${problemText(problem, label)}</strong></p>\n`}
<form method="post" action="${path}">
${hidden.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}
${hasPassphrase && usernameField(name)}
<label>${label} <input name="${PROOF_FIELD}" ${kind} required autofocus></label>
${hasSecondFactor && factorCodeField(PROOF_CODE_FIELD)}<button type="submit">Continue</button>
</form>`,
  )
}

const BY_PASSPHRASE = "This change needs your passphrase, unless you typed it in the last ten minutes."
const BY_CODE = html`This change needs proof of the last ten minutes. You have no passphrase: run
<code>appmeter sign-in</code> on the server and type its code here.`
const BY_SIGNING_IN = " Or sign out and sign in again, or set a passphrase in your profile first."

/** The field for a code of the second factor. */
export function factorCodeField(name: string, { isFocused = false } = {}): Html {
  return html`<label>Code of your authenticator app, or a recovery code <input name="${name}"
 autocomplete="one-time-code" spellcheck="false" required${isFocused && html` autofocus`}></label>
`
}

export function problemText(problem: ProofProblem, label: string): string {
  if (problem === "wrong") return `The ${label.toLowerCase()} is not right.`
  if (problem === "wrong code") return "The code is not right, or was used already. Wait for the app's next code."
  if (problem === "unreadable factor") return UNREADABLE
  const { waitSeconds } = problem
  return `Too many tries. Wait ${waitSeconds === 1 ? "a second" : `${waitSeconds} seconds`}, then try again.`
}

const UNREADABLE =
  "Codes of your authenticator app cannot be checked, because this server does not have the SECRET_KEY with which " +
  "the second factor was set up. Use a recovery code, or ask whoever runs this server."
