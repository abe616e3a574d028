import { randomBytes } from "node:crypto"
import type { VisitorGate } from "../../access/keyless-writes.ts"
import type { OidcProvider } from "../../access/oidc/provider.ts"
import { isOwnPath, type People } from "../../access/sign-in/person.ts"
import type { NewSession } from "../../access/sign-in/session.ts"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import { fieldOf } from "../../ui/form.ts"
import type { PageVisit } from "../../ui/routes.ts"
import { noticePage, SIGN_IN_POLICY } from "./page.ts"

export interface SignInParts {
  sql: Sql
  gate: Pick<Gate, "run">
  /** Gate for database statements that are run before the person is signed in. */
  visitorGate: VisitorGate
  people: People
  publicUrl: string
  /** How long a session lasts without use. */
  sessionDays: number
  /** Null: no OpenID provider signs people in. */
  oidc: OidcProvider | null
  log: Log
}

export const MAX_BYTES = 8_192

/**
 * Returns the data of a new session. Its token must be new, so that a session planted in the browser is never used
 * (session fixation).
 */
export function newSession(
  { sessionDays }: SignInParts,
  { request }: PageVisit,
  { token, via }: Pick<NewSession, "token" | "via">,
) {
  return { token, via, agent: request.headers.get("user-agent"), days: sessionDays }
}

/** Returns whether the browser states that the form comes from another origin. Other clients send no such header. */
export function isFromElsewhere({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site")
  if (site !== null) return site !== "same-origin" && site !== "none"
  const origin = headers.get("origin")
  return origin !== null && URL.parse(origin)?.host !== headers.get("host")
}

export function makeToken(): string {
  return randomBytes(32).toString("base64url")
}

/** Returns where the person continues. Always a path of this origin. */
export function nextOf(fields: URLSearchParams): string {
  const next = fieldOf(fields, "next")
  return next !== undefined && isOwnPath(next) ? next : "/app"
}

/** Converts a problem's text, which begins in lower case, to a sentence. */
export function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`
}

export function page(status: number, body: string, headers: Record<string, string> = {}): PageAnswer {
  return { status, headers: { "content-security-policy": SIGN_IN_POLICY, ...headers }, body }
}

export const NOT_UNDERSTOOD = page(400, noticePage("Not understood", "Send the form of the page as it was shown."))
