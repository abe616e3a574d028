import { keepClient } from "../../access/oauth/clients.ts"
import { createCode } from "../../access/oauth/code.ts"
import { OAuthProblem } from "../../access/oauth/problem.ts"
import { redirectHost } from "../../access/oauth/redirects.ts"
import { type AuthorizationRequest, answerAddress, RefusedRequest, readRequest } from "../../access/oauth/request.ts"
import type { OAuthParts } from "../../access/oauth/server.ts"
import { SCOPES } from "../../access/scopes.ts"
import { isOwnForm, type Person, signInAddress } from "../../access/sign-in/person.ts"
import { readVisibleApps } from "../../tracking/tracked-app.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import { askProof } from "../../ui/proof-page.ts"
import type { PageVisit } from "../../ui/routes.ts"
import { noticePage } from "../sign-in/page.ts"
import { CONSENT_POLICY, consentPage, leavingPage, refusalPage } from "./consent-page.ts"

/** Asks the person at every request: neither a session nor an earlier consent counts as consent to the new request. */
export async function openAuthorization(parts: OAuthParts, visit: PageVisit): Promise<PageAnswer> {
  try {
    return visit.request.method === "POST" ? await decide(parts, visit) : await ask(parts, visit)
  } catch (error) {
    if (error instanceof RefusedRequest) return refuse(parts, error)
    if (error instanceof OAuthProblem) return page(400, noticePage("This client cannot sign in", error.message))
    throw error
  }
}

/**
 * Reports to the client why its request is refused. Anybody can register any address, so the browser is redirected
 * without a click only if the client's host vouches for the client (RFC 9700, 4.11.2).
 */
function refuse({ publicUrl }: OAuthParts, { code, message, to }: RefusedRequest): PageAnswer {
  const address = answerAddress(publicUrl, to, { error: code, error_description: message })
  if (to.client.host !== null) return { status: 302, headers: { location: address }, body: null }
  return page(400, refusalPage({ ...to, reason: message, address }))
}

/** Requires a sign-in first, so that strangers cannot trigger a client lookup or a document fetch. */
async function ask(parts: OAuthParts, visit: PageVisit): Promise<PageAnswer> {
  const { path, query } = visit
  const person = await parts.people.personOf(visit)
  if (!person) return seeOther(signInAddress(`${path}?${query}`))
  return await askPerson(parts, person, { query, request: await readRequest(parts, query) })
}

async function decide(parts: OAuthParts, visit: PageVisit): Promise<PageAnswer> {
  const fields = await readForm(visit.request, MAX_BYTES)
  const person = await parts.people.personOf(visit)
  if (typeof fields === "string") return NOT_UNDERSTOOD
  const query = fieldOf(fields, "request") ?? ""
  if (!person) return seeOther(signInAddress(`/oauth/authorize?${query}`))
  // another site can make a browser send fields, but cannot read this token
  if (!isOwnForm(person, fields)) return NOT_UNDERSTOOD
  const authorization = await readRequest(parts, query)
  const decision = fieldOf(fields, "decision")
  if (decision === "deny")
    return leave(parts, authorization, { error: "access_denied", error_description: "The person refused." })
  if (decision !== "allow") return NOT_UNDERSTOOD
  const words = fields.getAll("scope")
  const scopes = SCOPES.filter((scope) => words.includes(scope) && person.scopes.includes(scope))
  if (scopes.length === 0)
    return await askPerson(parts, person, { query, request: authorization, problem: "Tick what it may do, or refuse." })
  const apps = await appsIn(parts, person, fields)
  if (apps === undefined)
    return await askPerson(parts, person, { query, request: authorization, problem: "Tick the apps it may see." })
  const proofQuestion = await askProof(parts, person, visit, fields)
  if (proofQuestion) return proofQuestion
  const code = await parts.gate.run(() =>
    parts.sql.begin(async (tx) => {
      await keepClient(tx, authorization.client.id)
      return await createCode(tx, {
        personId: person.personId,
        workspaceId: person.workspaceId,
        request: authorization,
        scopes,
        appList: apps,
        name: shownName(authorization.client.name),
        hint: redirectHost(authorization.redirectUri).slice(0, 100),
      })
    }),
  )
  return leave(parts, authorization, { code })
}

/**
 * Returns the selected apps of the workspace. Null means all apps, including apps that are added later. Undefined if
 * none is selected.
 */
async function appsIn(
  parts: OAuthParts,
  person: Person,
  fields: URLSearchParams,
): Promise<string[] | null | undefined> {
  if (fieldOf(fields, "apps") === "all") return null
  const ticked = fields.getAll("app")
  const selected = (await readApps(parts, person)).filter(({ id }) => ticked.includes(id))
  return selected.length > 0 ? selected.map(({ id }) => id) : undefined
}

interface ConsentQuestion {
  query: string
  request: AuthorizationRequest
  problem?: string
}

async function askPerson(
  parts: OAuthParts,
  person: Person,
  { query, request, problem }: ConsentQuestion,
): Promise<PageAnswer> {
  const apps = await readApps(parts, person)
  const body = consentPage({ request, query, person, apps, ...(problem !== undefined && { problem }) })
  return page(problem === undefined ? 200 : 400, body)
}

async function readApps({ sql, gate }: OAuthParts, { workspaceId, appList }: Person) {
  return await gate.run(() => readVisibleApps(sql, { workspaceId, appList }))
}

function leave(
  { publicUrl }: OAuthParts,
  request: AuthorizationRequest,
  parameters: Record<string, string>,
): PageAnswer {
  const address = answerAddress(publicUrl, request, parameters)
  return page(200, leavingPage(request.client.name, address), { refresh: `0;url=${address}` })
}

/** Returns a name that a list of keys can show: printable, at most 100 characters. */
function shownName(name: string): string {
  const printable = name.replaceAll(/\p{C}/gu, " ").trim()
  return [...printable].slice(0, 100).join("").trim() || "A client without a name"
}

const MAX_BYTES = 65_536

function page(status: number, body: string, headers: Record<string, string> = {}): PageAnswer {
  return { status, headers: { "content-security-policy": CONSENT_POLICY, ...headers }, body }
}

const NOT_UNDERSTOOD = page(400, noticePage("Not understood", "Send the form of the page as it was shown."))
