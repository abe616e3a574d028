import {
  createPendingSignIn,
  type PendingSignIn,
  readPendingSignIn,
  takePendingSignIn,
} from "../../access/sign-in/pending.ts"
import { cookieOf, hostCookie, sessionCookie } from "../../access/sign-in/person.ts"
import type { ProofProblem } from "../../access/sign-in/proof.ts"
import { hasSecondFactor } from "../../access/sign-in/second-factor.ts"
import { createSession, isSessionToken } from "../../access/sign-in/session.ts"
import type { Tx } from "../../database/types.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import { html } from "../../ui/html.ts"
import { layout } from "../../ui/layout.ts"
import { factorCodeField, problemText } from "../../ui/proof-page.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import {
  isFromElsewhere,
  MAX_BYTES,
  makeToken,
  NOT_UNDERSTOOD,
  newSession,
  nextOf,
  page,
  type SignInParts,
} from "./forms.ts"
import { noticePage } from "./page.ts"

const PATH = "/sign-in/second-step"

/** Cookie of a sign-in that waits for its second factor. It is not a session, and only this page reads it. */
const COOKIE = "appmeter-second-step"
const COOKIE_SECONDS = 600

/** The result of a correct passphrase or code: a session, or a wait for the second factor. */
export interface BegunSignIn {
  token: string
  isComplete: boolean
}

/** Creates a session, or a wait for the second factor. Returns null if the person has no access to the workspace. */
export async function beginSignIn(
  tx: Tx,
  parts: SignInParts,
  visit: PageVisit,
  member: PendingSignIn,
): Promise<BegunSignIn | null> {
  const token = makeToken()
  const isComplete = !(await hasSecondFactor(tx, member.personId))
  const { via, ...person } = member
  const isBegun = isComplete
    ? await createSession(tx, { ...person, ...newSession(parts, visit, { token, via }) })
    : await createPendingSignIn(tx, token, member)
  return isBegun ? { token, isComplete } : null
}

/** Opens the next page, with the cookie of the session or of the second step. */
export function continueSignIn({ token, isComplete }: BegunSignIn, next: string, publicUrl: string): PageAnswer {
  if (isComplete) return seeOther(next, { "set-cookie": sessionCookie(token, publicUrl) })
  const cookie = hostCookie(COOKIE, token, { publicUrl, seconds: COOKIE_SECONDS })
  return seeOther(`${PATH}?${new URLSearchParams({ next })}`, { "set-cookie": cookie })
}

/** The page that asks for the second factor. */
export function secondStepRoute(parts: SignInParts): PageRoute {
  const { sql, people, publicUrl } = parts
  return {
    path: PATH,
    methods: ["GET", "HEAD", "POST"],
    async open(visit) {
      const { request, address } = visit
      const isSent = request.method === "POST"
      const fields = isSent ? await readForm(request, MAX_BYTES) : new URLSearchParams(visit.query)
      if (typeof fields === "string" || (isSent && isFromElsewhere(request))) return NOT_UNDERSTOOD
      const gate = parts.visitorGate(address)
      const token = cookieOf(request, COOKIE, publicUrl)
      const pending =
        token !== null && isSessionToken(token) ? await gate.run(() => readPendingSignIn(sql, token)) : null
      if (token === null || !pending) return page(403, OVER)
      const next = nextOf(fields)
      const code = isSent ? fieldOf(fields, "code") : undefined
      if (code === undefined) return page(200, codePage(next))
      const problem = await people.proveSecondFactor(pending.personId, code, address)
      return problem ? refused(problem, next) : await complete(parts, visit, { pending, token, next })
    },
  }
}

interface PassedStep {
  pending: PendingSignIn
  token: string
  next: string
}

/** The session gets a new token, so that the token of the first step becomes useless. */
async function complete(parts: SignInParts, visit: PageVisit, { pending, token, next }: PassedStep) {
  const { via, ...person } = pending
  const session = { ...newSession(parts, visit, { token: makeToken(), via }), isSecondGiven: true }
  const isSignedIn = await parts.visitorGate(visit.address).run(() =>
    parts.sql.begin(async (tx) => {
      return (await takePendingSignIn(tx, token)) && (await createSession(tx, { ...person, ...session }))
    }),
  )
  if (!isSignedIn) return page(403, OVER)
  return seeOther(next, { "set-cookie": sessionCookie(session.token, parts.publicUrl) })
}

function refused(problem: ProofProblem, next: string): PageAnswer {
  const body = codePage(next, problem)
  if (typeof problem === "string") return page(403, body)
  return page(429, body, { "retry-after": String(problem.waitSeconds) })
}

function codePage(next: string, problem?: ProofProblem): string {
  return layout(
    "Enter the code",
    "The second step of the sign-in.",
    html`${problem && html`<p role="alert"><strong>${problemText(problem, "code")}</strong></p>\n`}
<form method="post" action="${PATH}">
<input type="hidden" name="next" value="${next}">
${factorCodeField("code", { isFocused: true })}<button type="submit">Sign in</button>
</form>
<p class="quiet">No phone and no recovery code? Whoever runs this server can turn the second factor off:
<code>appmeter person second-factor NAME --off</code></p>`,
  )
}

const OVER = noticePage(
  "Sign in again",
  "The second step follows the passphrase within ten minutes, in the same browser. Start again from the sign-in page.",
)
