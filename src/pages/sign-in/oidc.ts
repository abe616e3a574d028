import { beginVisit, findLinkedPerson, linkIdentity, type OidcVisit, takeVisit } from "../../access/oidc/identities.ts"
import { OIDC_CALLBACK_PATH, OidcProblem, type OidcProvider, type Subject } from "../../access/oidc/provider.ts"
import { readInvitation, takeInvitation } from "../../access/people/invitations.ts"
import { addMember, addPerson, findPersonId } from "../../access/people/people.ts"
import { AccessProblem } from "../../access/problem.ts"
import { findSignInPerson } from "../../access/sign-in/passphrase.ts"
import { cookieOf, hostCookie, isOwnForm, sessionCookie } from "../../access/sign-in/person.ts"
import { createSession, isSessionToken } from "../../access/sign-in/session.ts"
import { giveTryBack, type SecretTry, takeTry } from "../../access/tries.ts"
import { checkName } from "../../access/workspaces.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import { html } from "../../ui/html.ts"
import { layout } from "../../ui/layout.ts"
import { askProof } from "../../ui/proof-page.ts"
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
  sentence,
} from "./forms.ts"
import { noticePage } from "./page.ts"

/** The parts of a sign-in with a configured provider. */
type OidcParts = SignInParts & { oidc: OidcProvider }

/** The routes of sign-in with an OpenID provider. None without one. */
export function oidcRoutes(parts: SignInParts): PageRoute[] {
  const { oidc } = parts
  if (!oidc) return []
  const withProvider = { ...parts, oidc }
  return [
    { path: "/sign-in/oidc", methods: ["POST"], open: (visit) => openProvider(withProvider, visit) },
    { path: OIDC_CALLBACK_PATH, methods: ["GET"], open: (visit) => openCallback(withProvider, visit) },
  ]
}

/** Cookie that binds a visit to its browser, so that nobody can finish another's sign-in (session fixation). */
const VISIT_COOKIE = "appmeter-oidc"
const VISIT_SECONDS = 600

async function openProvider(parts: OidcParts, visit: PageVisit): Promise<PageAnswer> {
  const { sql, oidc, publicUrl } = parts
  const { request, address } = visit
  const fields = await readForm(request, MAX_BYTES)
  if (typeof fields === "string" || isFromElsewhere(request)) return NOT_UNDERSTOOD
  const purpose = await purposeOf(parts, visit, fields)
  if ("status" in purpose) return purpose
  const gate = parts.visitorGate(address)
  const wait = await gate.run(() => takeTry(sql, triedFrom(address)))
  if (wait !== null) return page(429, TOO_MANY, { "retry-after": String(wait) })
  const token = makeToken()
  try {
    const url = await oidc.begin(token)
    await gate.run(() => beginVisit(sql, token, purpose))
    // Not a redirect, because browsers apply the form policy to every redirect after a form, including those of the
    // provider.
    return page(200, continuePage(oidc.name, url.href), {
      refresh: `0; url=${url.href}`,
      "set-cookie": hostCookie(VISIT_COOKIE, token, { publicUrl, seconds: VISIT_SECONDS }),
    })
  } catch (error) {
    return failedPage(parts, visit, error)
  }
}

/** Returns the purpose of the visit, or the page that refuses it or asks for the passphrase first. */
async function purposeOf(parts: OidcParts, visit: PageVisit, fields: URLSearchParams): Promise<OidcVisit | PageAnswer> {
  const next = nextOf(fields)
  if (fieldOf(fields, "link") !== undefined) {
    const person = await parts.people.personOf(visit)
    if (!person || !isOwnForm(person, fields)) return NOT_UNDERSTOOD
    // From then on, the person can sign in with the linked identity.
    const proofPage = await askProof(parts, person, visit, fields)
    return proofPage ?? { next, sessionId: person.id, invitationId: null, name: null }
  }
  const code = fieldOf(fields, "code")
  if (code === undefined) return { next, sessionId: null, invitationId: null, name: null }
  const { sql } = parts
  const gate = parts.visitorGate(visit.address)
  const invitation = await gate.run(() => readInvitation(sql, code))
  if (!invitation) return page(404, INVITATION_GONE)
  try {
    const name = checkName("person", fieldOf(fields, "name") ?? "")
    const isTaken = (await gate.run(() => findPersonId(sql, name))) !== null
    if (isTaken) throw new AccessProblem(`there is already a person named ${JSON.stringify(name)}`)
    return { next, sessionId: null, invitationId: invitation.id, name }
  } catch (error) {
    return problemPage(error)
  }
}

async function openCallback(parts: OidcParts, visit: PageVisit): Promise<PageAnswer> {
  const { sql, oidc, publicUrl } = parts
  const token = cookieOf(visit.request, VISIT_COOKIE, publicUrl)
  const gate = parts.visitorGate(visit.address)
  const started = token !== null && isSessionToken(token) ? await gate.run(() => takeVisit(sql, token)) : null
  if (token === null || !started) return page(400, NOT_BEGUN)
  try {
    const subject = await oidc.finish(token, visit.query)
    await gate.run(() => giveTryBack(sql, triedFrom(visit.address)))
    if (started.sessionId !== null) return await link(parts, visit, started, subject)
    return await signIn(parts, visit, started, subject)
  } catch (error) {
    return failedPage(parts, visit, error)
  }
}

/**
 * Returns the key by which visits are counted: per address, because each visit is stored. A successful visit does not
 * count.
 */
function triedFrom(address: string | null): SecretTry {
  return { scope: "oidc", address, secret: null }
}

/** Links the subject to the person who began the visit, if that person is still signed in at this browser. */
async function link(parts: OidcParts, visit: PageVisit, { next, sessionId }: OidcVisit, subject: Subject) {
  const person = await parts.people.personOf(visit)
  if (person?.id !== sessionId) return page(400, NOT_BEGUN)
  await parts.gate.run(() => parts.sql.begin((tx) => linkIdentity(tx, person.personId, subject)))
  return seeOther(next)
}

async function signIn(parts: OidcParts, visit: PageVisit, started: OidcVisit, subject: Subject): Promise<PageAnswer> {
  const { sql, oidc, publicUrl } = parts
  const { next, invitationId, name } = started
  const gate = parts.visitorGate(visit.address)
  const token = makeToken()
  const linked = await gate.run(() => findLinkedPerson(sql, subject))
  const member = linked && (await gate.run(() => findSignInPerson(sql, linked.name)))
  if (!member && invitationId === null) return page(403, unknownPage(oidc.name))
  const isSignedIn = await gate.run(() =>
    sql.begin(async (tx) => {
      const session = newSession(parts, visit, { token, via: "oidc" })
      if (invitationId === null || name === null)
        return (
          member !== null &&
          (await createSession(tx, { ...session, personId: member.id, workspaceId: member.workspaceId }))
        )
      const invitation = await takeInvitation(tx, { id: invitationId })
      if (!invitation) return false
      const { workspaceId } = invitation
      if (member) await addMember(tx, { ...invitation, personId: member.id })
      const personId = member?.id ?? (await addPerson(tx, { ...invitation, name }))
      await linkIdentity(tx, personId, subject)
      return await createSession(tx, { ...session, personId, workspaceId })
    }),
  )
  if (!isSignedIn) return page(404, INVITATION_GONE)
  return seeOther(next, { "set-cookie": sessionCookie(token, publicUrl) })
}

function failedPage({ oidc, log }: OidcParts, { requestId }: PageVisit, error: unknown): PageAnswer {
  if (!(error instanceof OidcProblem)) return problemPage(error)
  log("warn", "oidc_failed", { requestId, reason: error.message })
  return error.isUnreachable ? page(502, unreachablePage(oidc.name)) : page(400, refusedPage(oidc.name))
}

/** Returns the page that explains an AccessProblem. Throws any other error again. */
function problemPage(error: unknown): PageAnswer {
  if (!(error instanceof AccessProblem)) throw error
  return page(400, noticePage("This did not work", sentence(error.message)))
}

function continuePage(name: string, address: string): string {
  return layout(`Sign in with ${name}`, "", html`<p><a href="${address}">Continue to ${name}</a></p>`)
}

function unknownPage(name: string): string {
  return noticePage(
    "No access yet",
    `${name} knows you, but nobody here is linked to your account there. Ask for an invitation. If you have a ` +
      `passphrase here, sign in with it and link ${name} in your profile.`,
  )
}

function unreachablePage(name: string): string {
  return noticePage(
    `${name} does not answer`,
    "Try again in a minute, or sign in with your passphrase or a code. If this persists, whoever runs this server " +
      "can find the cause with: appmeter doctor.",
  )
}

function refusedPage(name: string): string {
  return noticePage(
    `The sign-in with ${name} failed`,
    "Nobody was signed in. Start again from the sign-in page. If it fails again, whoever runs this server finds the " +
      "reason in the log, as oidc_failed.",
  )
}

const NOT_BEGUN = noticePage(
  "This sign-in did not begin here",
  "It was begun in another browser, was finished already, or took longer than ten minutes. Start again.",
)
const INVITATION_GONE = noticePage(
  "This invitation is not valid",
  "It was used or withdrawn, or it is older than seven days. Ask for a new one.",
)
const TOO_MANY = noticePage("Too many tries", "Wait a minute, then try again.")
