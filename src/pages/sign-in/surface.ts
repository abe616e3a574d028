import { renamePerson } from "../../access/people/people.ts"
import { AccessProblem } from "../../access/problem.ts"
import { takeCode } from "../../access/sign-in/code.ts"
import { findOnlyName, findSignInPerson, isPassphrase, setPassphrase } from "../../access/sign-in/passphrase.ts"
import { isOwnForm, sessionCookie, tokenOf } from "../../access/sign-in/person.ts"
import { secretOf } from "../../access/sign-in/proof.ts"
import { createSession, endSession, endSessions, switchWorkspace } from "../../access/sign-in/session.ts"
import { giveTryBack, type SecretTry, takeTry } from "../../access/tries.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
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
import { invitationRoute } from "./invitation.ts"
import { oidcRoutes } from "./oidc.ts"
import { noticePage, passphraseOffer, type SignInForm, signedInPage, signInPage } from "./page.ts"
import { type BegunSignIn, beginSignIn, continueSignIn, secondStepRoute } from "./second-step.ts"

/** The pages that sign a person in and out. */
export function signInRoutes(parts: SignInParts): PageRoute[] {
  return [
    { path: "/sign-in", methods: ["GET", "HEAD", "POST"], open: (visit) => openSignIn(parts, visit) },
    { path: "/sign-in/passphrase", methods: ["GET", "HEAD", "POST"], open: (visit) => openOffer(parts, visit) },
    secondStepRoute(parts),
    { path: "/sign-in/workspace", methods: ["POST"], open: (visit) => openSwitch(parts, visit) },
    { path: "/sign-out", methods: ["POST"], open: (visit) => openSignOut(parts, visit) },
    invitationRoute(parts),
    ...oidcRoutes(parts),
  ]
}

async function openSignIn(parts: SignInParts, visit: PageVisit): Promise<PageAnswer> {
  if (visit.request.method === "POST") return await signIn(parts, visit)
  const query = new URLSearchParams(visit.query)
  const next = nextOf(query)
  const person = await parts.people.personOf(visit)
  // A link's code is used up only by the form, because link previewers and scanners open links before a person does.
  const code = fieldOf(query, "code")
  if (person && code === undefined) return page(200, signedInPage(person, next))
  const proxyName = parts.people.proxyNameOf(visit)
  if (proxyName !== null) return await signInByProxy(parts, visit, { name: proxyName, next })
  return await formPage(parts, 200, { next, ...(code !== undefined && { code }) })
}

async function signIn(parts: SignInParts, visit: PageVisit): Promise<PageAnswer> {
  const { request } = visit
  const fields = await readForm(request, MAX_BYTES)
  if (typeof fields === "string") return NOT_UNDERSTOOD
  const next = nextOf(fields)
  if (isFromElsewhere(request)) return await formPage(parts, 403, { next, outcome: "other site" })
  const code = fieldOf(fields, "code")
  if (code !== undefined) return await signInByCode(parts, visit, { code, next })
  const passphrase = fieldOf(fields, "passphrase")
  if (passphrase === undefined) return NOT_UNDERSTOOD
  return await signInByPassphrase(parts, visit, { name: fieldOf(fields, "name"), passphrase, next })
}

interface CodeForm {
  code: string
  next: string
}

async function signInByCode(parts: SignInParts, visit: PageVisit, { code, next }: CodeForm): Promise<PageAnswer> {
  const { sql } = parts
  const gate = parts.visitorGate(visit.address)
  const tried: SecretTry = { scope: "sign-in", address: visit.address, secret: null }
  const wait = await gate.run(() => takeTry(sql, tried))
  if (wait !== null) return await waitPage(parts, wait, { next })
  const begun = await gate.run(() =>
    sql.begin(async (tx) => {
      const holder = await takeCode(tx, code)
      return holder && (await beginSignIn(tx, parts, visit, { ...holder, via: "code" }))
    }),
  )
  if (!begun) return await formPage(parts, 403, { next, outcome: "wrong code" })
  return await passFirstStep(parts, { tried, begun, next })
}

/** Signs in the person whom the proxy names. A person without an invitation does not become a member. */
async function signInByProxy(
  parts: SignInParts,
  visit: PageVisit,
  { name, next }: { name: string; next: string },
): Promise<PageAnswer> {
  const { sql, gate, publicUrl } = parts
  const token = makeToken()
  const isSignedIn = await gate.run(async () => {
    const found = await findSignInPerson(sql, name)
    if (!found) return false
    const { id: personId, workspaceId } = found
    const session = newSession(parts, visit, { token, via: "proxy" })
    return await sql.begin((tx) => createSession(tx, { personId, workspaceId, ...session }))
  })
  if (!isSignedIn) return page(403, noticePage("No access yet", `Nobody here is named ${name}. Ask for an invitation.`))
  return seeOther(next, { "set-cookie": sessionCookie(token, publicUrl) })
}

interface PassphraseForm {
  /** Undefined if the form did not ask for it. */
  name: string | undefined
  passphrase: string
  next: string
}

async function signInByPassphrase(parts: SignInParts, visit: PageVisit, form: PassphraseForm): Promise<PageAnswer> {
  const { sql } = parts
  const { passphrase, next } = form
  const gate = parts.visitorGate(visit.address)
  const name = form.name ?? (await gate.run(() => findOnlyName(sql)))
  const found = name === null ? null : await gate.run(() => findSignInPerson(sql, name.trim()))
  const tried: SecretTry = { scope: "sign-in", address: visit.address, secret: found && secretOf(found.id) }
  const again = { next, ...(form.name !== undefined && { name: form.name }) }
  const wait = await gate.run(() => takeTry(sql, tried))
  if (wait !== null) return await waitPage(parts, wait, again)
  const isRight = await isPassphrase(passphrase, found?.hashed ?? null)
  const { id: personId = 0, workspaceId = 0 } = found ?? {}
  const member = { personId, workspaceId, via: "passphrase" as const }
  const begun = isRight ? await gate.run(() => sql.begin((tx) => beginSignIn(tx, parts, visit, member))) : null
  if (!begun) return await formPage(parts, 403, { ...again, outcome: "wrong passphrase" })
  return await passFirstStep(parts, { tried, begun, next })
}

async function passFirstStep(
  { sql, gate, publicUrl }: SignInParts,
  { tried, begun, next }: { tried: SecretTry; begun: BegunSignIn; next: string },
): Promise<PageAnswer> {
  await gate.run(() => giveTryBack(sql, tried))
  return continueSignIn(begun, next, publicUrl)
}

/** Offers a passphrase to a person without one. Others continue at once. */
async function openOffer(parts: SignInParts, visit: PageVisit): Promise<PageAnswer> {
  const { sql, gate } = parts
  const { request } = visit
  const fields = request.method === "POST" ? await readForm(request, MAX_BYTES) : new URLSearchParams(visit.query)
  if (typeof fields === "string") return NOT_UNDERSTOOD
  const person = await parts.people.personOf(visit)
  const next = nextOf(fields)
  if (!person) return seeOther(next)
  if (person.hasPassphrase) return seeOther(next)
  if (request.method !== "POST") return page(200, passphraseOffer({ person, next }))
  const [name, passphrase] = [fieldOf(fields, "name"), fieldOf(fields, "passphrase")]
  if (name === undefined || passphrase === undefined || !isOwnForm(person, fields)) return NOT_UNDERSTOOD
  try {
    if (name.trim() !== person.person) await gate.run(() => renamePerson(sql, person.personId, name))
    await setPassphrase(sql, person.personId, passphrase, { exceptSession: person.id })
    return seeOther(next)
  } catch (error) {
    if (!(error instanceof AccessProblem)) throw error
    return page(400, passphraseOffer({ person, next, problem: sentence(error.message) }))
  }
}

/** Shows another workspace of the person. */
async function openSwitch(parts: SignInParts, visit: PageVisit): Promise<PageAnswer> {
  const fields = await readForm(visit.request, MAX_BYTES)
  const person = await parts.people.personOf(visit)
  if (!person) return seeOther("/sign-in")
  const id = typeof fields === "string" ? undefined : fieldOf(fields, "workspace")
  if (typeof fields === "string" || !isOwnForm(person, fields) || !/^\d{1,9}$/.test(id ?? "")) return NOT_UNDERSTOOD
  const isSwitched = await parts.gate.run(() => switchWorkspace(parts.sql, person.id, Number(id)))
  return isSwitched ? seeOther("/app") : NOT_UNDERSTOOD
}

async function openSignOut(parts: SignInParts, visit: PageVisit): Promise<PageAnswer> {
  const { request } = visit
  const fields = await readForm(request, MAX_BYTES)
  const person = await parts.people.personOf(visit)
  if (person) {
    if (typeof fields === "string" || !isOwnForm(person, fields)) return NOT_UNDERSTOOD
    const isEverywhere = fieldOf(fields, "everywhere") !== undefined
    await parts.gate.run(() =>
      isEverywhere
        ? endSessions(parts.sql, person.personId)
        : endSession(parts.sql, tokenOf(request, parts.publicUrl) ?? ""),
    )
  }
  return seeOther("/sign-in", { "set-cookie": sessionCookie(null, parts.publicUrl) })
}

type AskedForm = Omit<SignInForm, "asksName" | "provider">

async function formPage(parts: SignInParts, status: number, form: AskedForm): Promise<PageAnswer> {
  const onlyName = await parts.gate.run(() => findOnlyName(parts.sql))
  return page(status, signInPage({ ...form, asksName: onlyName === null, provider: parts.oidc?.name ?? null }))
}

async function waitPage(parts: SignInParts, waitSeconds: number, form: AskedForm): Promise<PageAnswer> {
  const answer = await formPage(parts, 429, { ...form, outcome: { waitSeconds } })
  return { ...answer, headers: { ...answer.headers, "retry-after": String(waitSeconds) } }
}
