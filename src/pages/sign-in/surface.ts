import { randomBytes } from "node:crypto"
import type { VisitorGate } from "../../access/keyless-writes.ts"
import { takeCode } from "../../access/sign-in/code.ts"
import { isOwnForm, isOwnPath, type Owners, sessionCookie, tokenOf } from "../../access/sign-in/owner.ts"
import { findSignInWorkspace, isPassphrase } from "../../access/sign-in/passphrase.ts"
import { createSession, endSession } from "../../access/sign-in/session.ts"
import { giveTryBack, type SecretTry, takeTry } from "../../access/tries.ts"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import { noticePage, SIGN_IN_POLICY, type SignInForm, signedInPage, signInPage } from "./page.ts"

interface SignInParts {
  sql: Sql
  gate: Pick<Gate, "run">
  /** Gate for database statements before anybody is signed in. */
  visitorGate: VisitorGate
  owners: Owners
  publicUrl: string
}

/** The pages that sign an owner in and out. */
export function signInRoutes(parts: SignInParts): PageRoute[] {
  return [
    { path: "/sign-in", methods: ["GET", "HEAD", "POST"], open: (visit) => openSignIn(parts, visit) },
    { path: "/sign-out", methods: ["POST"], open: (visit) => openSignOut(parts, visit) },
  ]
}

async function openSignIn(parts: SignInParts, visit: PageVisit): Promise<PageAnswer> {
  if (visit.request.method === "POST") return await signIn(parts, visit)
  const query = new URLSearchParams(visit.query)
  const next = nextOf(query)
  const owner = await parts.owners.ownerOf(visit.request)
  // Only the form uses up a link's code, because previewers and scanners open links beforehand.
  const code = fieldOf(query, "code")
  if (owner && code === undefined) return page(200, signedInPage(owner, next))
  return formPage(200, { next, ...(code !== undefined && { code }) })
}

async function signIn(parts: SignInParts, { request, address }: PageVisit): Promise<PageAnswer> {
  const fields = await readForm(request, MAX_BYTES)
  if (typeof fields === "string") return NOT_UNDERSTOOD
  const next = nextOf(fields)
  if (isFromElsewhere(request)) return formPage(403, { next, outcome: "other site" })
  const code = fieldOf(fields, "code")
  if (code !== undefined) return await signInByCode(parts, { code, next, address })
  const [workspace, passphrase] = [fieldOf(fields, "workspace"), fieldOf(fields, "passphrase")]
  if (workspace === undefined || passphrase === undefined) return NOT_UNDERSTOOD
  return await signInByPassphrase(parts, { workspace, passphrase, next, address })
}

interface CodeForm {
  code: string
  next: string
  address: string | null
}

async function signInByCode(parts: SignInParts, { code, next, address }: CodeForm): Promise<PageAnswer> {
  const { sql } = parts
  const gate = parts.visitorGate(address)
  const tried: SecretTry = { scope: "sign-in", address, secret: null }
  const wait = await gate.run(() => takeTry(sql, tried))
  if (wait !== null) return waitPage(wait, { next })
  const token = makeToken()
  const workspaceId = await gate.run(() =>
    sql.begin(async (tx) => {
      const id = await takeCode(tx, code)
      if (id !== null) await createSession(tx, id, token)
      return id
    }),
  )
  if (workspaceId === null) return formPage(403, { next, outcome: "wrong code" })
  return await finishSignIn(parts, { tried, token, next })
}

interface PassphraseForm {
  workspace: string
  passphrase: string
  next: string
  address: string | null
}

async function signInByPassphrase(parts: SignInParts, form: PassphraseForm): Promise<PageAnswer> {
  const { sql } = parts
  const { workspace, passphrase, next, address } = form
  const gate = parts.visitorGate(address)
  const found = await gate.run(() => findSignInWorkspace(sql, workspace.trim()))
  const tried: SecretTry = { scope: "sign-in", address, secret: found && `workspace ${found.id}` }
  const wait = await gate.run(() => takeTry(sql, tried))
  if (wait !== null) return waitPage(wait, { next, workspace })
  if (!(await isPassphrase(passphrase, found?.hashed ?? null)) || !found)
    return formPage(403, { next, workspace, outcome: "wrong passphrase" })
  const token = makeToken()
  await gate.run(() => sql.begin((tx) => createSession(tx, found.id, token)))
  return await finishSignIn(parts, { tried, token, next })
}

/**
 * Creates a new session for each sign-in, so that a session planted in the browser is never used (session fixation).
 */
async function finishSignIn(
  { sql, gate, publicUrl }: SignInParts,
  { tried, token, next }: { tried: SecretTry; token: string; next: string },
): Promise<PageAnswer> {
  await gate.run(() => giveTryBack(sql, tried))
  return seeOther(next, { "set-cookie": sessionCookie(token, publicUrl) })
}

async function openSignOut(parts: SignInParts, { request }: PageVisit): Promise<PageAnswer> {
  const fields = await readForm(request, MAX_BYTES)
  const owner = await parts.owners.ownerOf(request)
  if (owner) {
    if (typeof fields === "string" || !isOwnForm(owner, fields)) return NOT_UNDERSTOOD
    await parts.gate.run(() => endSession(parts.sql, tokenOf(request, parts.publicUrl)!))
  }
  return seeOther("/sign-in", { "set-cookie": sessionCookie(null, parts.publicUrl) })
}

const MAX_BYTES = 8_192

/** Returns where the owner continues. Always a path of this origin. */
function nextOf(fields: URLSearchParams): string {
  const next = fieldOf(fields, "next")
  return next !== undefined && isOwnPath(next) ? next : "/app"
}

/** Returns whether the browser states that the form comes from another origin. Other clients send no such header. */
function isFromElsewhere({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site")
  if (site !== null) return site !== "same-origin" && site !== "none"
  const origin = headers.get("origin")
  return origin !== null && URL.parse(origin)?.host !== headers.get("host")
}

function makeToken(): string {
  return randomBytes(32).toString("base64url")
}

function page(status: number, body: string, headers: Record<string, string> = {}): PageAnswer {
  return { status, headers: { "content-security-policy": SIGN_IN_POLICY, ...headers }, body }
}

function formPage(status: number, form: SignInForm): PageAnswer {
  return page(status, signInPage(form))
}

function waitPage(waitSeconds: number, form: SignInForm): PageAnswer {
  return page(429, signInPage({ ...form, outcome: { waitSeconds } }), { "retry-after": String(waitSeconds) })
}

const NOT_UNDERSTOOD = page(400, noticePage("Not understood", "Send the form of the page as it was shown."))
