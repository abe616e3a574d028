import { type OpenInvitation, readInvitation, takeInvitation } from "../../access/people/invitations.ts"
import { addMember, addPerson } from "../../access/people/people.ts"
import { AccessProblem } from "../../access/problem.ts"
import { hashPassphrase } from "../../access/sign-in/passphrase.ts"
import { isOwnForm, type Person, sessionCookie } from "../../access/sign-in/person.ts"
import { createSession, switchWorkspace } from "../../access/sign-in/session.ts"
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
  page,
  type SignInParts,
  sentence,
} from "./forms.ts"
import { invitationPage, noticePage } from "./page.ts"

/** The page where an invitation is accepted. */
export function invitationRoute(parts: SignInParts): PageRoute {
  return {
    path: "/invitation",
    methods: ["GET", "HEAD", "POST"],
    open: async (visit) => {
      const { request, address } = visit
      const fields = request.method === "POST" ? await readForm(request, MAX_BYTES) : new URLSearchParams(visit.query)
      if (typeof fields === "string") return NOT_UNDERSTOOD
      const code = fieldOf(fields, "code") ?? ""
      const gate = parts.visitorGate(address)
      const tried: SecretTry = { scope: "invitation", address, secret: null }
      const wait = await gate.run(() => takeTry(parts.sql, tried))
      if (wait !== null) return page(429, TOO_MANY, { "retry-after": String(wait) })
      const invitation = await gate.run(() => readInvitation(parts.sql, code))
      if (!invitation) return page(404, NOT_VALID)
      await gate.run(() => giveTryBack(parts.sql, tried))
      const person = await parts.people.personOf(visit)
      const proxyName = parts.people.proxyNameOf(visit)
      if (request.method !== "POST") {
        const provider = parts.oidc?.name ?? null
        return page(200, invitationPage({ ...invitation, code, person, proxyName, provider }))
      }
      if (isFromElsewhere(request)) return NOT_UNDERSTOOD
      return await accept(parts, visit, { fields, code, invitation, person, proxyName })
    },
  }
}

interface Acceptance {
  fields: URLSearchParams
  code: string
  invitation: OpenInvitation
  person: Person | null
  proxyName: string | null
}

async function accept(parts: SignInParts, visit: PageVisit, acceptance: Acceptance): Promise<PageAnswer> {
  const { fields, code, invitation, person, proxyName } = acceptance
  const isSelf = fieldOf(fields, "as") === "me"
  if (isSelf && !(person && isOwnForm(person, fields))) return NOT_UNDERSTOOD
  try {
    return isSelf && person
      ? await joinAs(parts, person, code)
      : await joinAsNewPerson(parts, visit, { fields, code, proxyName })
  } catch (error) {
    if (!(error instanceof AccessProblem)) throw error
    const name = fieldOf(fields, "name") ?? invitation.name
    const provider = parts.oidc?.name ?? null
    const view = { ...invitation, name, code, person, proxyName, provider }
    return page(400, invitationPage({ ...view, problem: sentence(error.message) }))
  }
}

async function joinAs({ sql, gate }: SignInParts, person: Person, code: string): Promise<PageAnswer> {
  const { personId } = person
  const workspaceId = await gate.run(() =>
    sql.begin(async (tx) => {
      const invitation = await takeInvitation(tx, code)
      if (!invitation) return null
      await addMember(tx, { ...invitation, personId })
      return invitation.workspaceId
    }),
  )
  if (workspaceId === null) return page(404, NOT_VALID)
  await gate.run(() => switchWorkspace(sql, person.id, workspaceId))
  return seeOther("/app")
}

async function joinAsNewPerson(
  parts: SignInParts,
  visit: PageVisit,
  { fields, code, proxyName }: Pick<Acceptance, "fields" | "code" | "proxyName">,
): Promise<PageAnswer> {
  const { sql, publicUrl } = parts
  const name = proxyName ?? fieldOf(fields, "name")
  const passphrase = fieldOf(fields, "passphrase")
  if (name === undefined || (passphrase === undefined && proxyName === null)) return NOT_UNDERSTOOD
  const hashed = passphrase === undefined ? undefined : await hashPassphrase(passphrase)
  const via = proxyName === null ? "invitation" : "proxy"
  const token = makeToken()
  const isSignedIn = await parts.visitorGate(visit.address).run(() =>
    sql.begin(async (tx) => {
      const invitation = await takeInvitation(tx, code)
      if (!invitation) return false
      const personId = await addPerson(tx, { ...invitation, name, ...(hashed !== undefined && { hashed }) })
      const { workspaceId } = invitation
      return await createSession(tx, { personId, workspaceId, ...newSession(parts, visit, { token, via }) })
    }),
  )
  if (!isSignedIn) return page(404, NOT_VALID)
  return seeOther("/app", { "set-cookie": sessionCookie(token, publicUrl) })
}

const NOT_VALID = noticePage(
  "This invitation is not valid",
  "It was used, withdrawn or is older than seven days. Ask for a new one.",
)
const TOO_MANY = noticePage("Too many tries", "Wait a minute, then open the invitation again.")
