import { Buffer } from "node:buffer"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { isSessionToken, type OwnerSession, readSession, SESSION_HOURS } from "./session.ts"

/** The owner who is signed in with a browser. Pages call `invoke` with `credentials: { grant: owner.keyId }`. */
export interface Owner extends OwnerSession {
  /**
   * CSRF token: the hidden field "form" of every form. It proves that the form was shown in this session. It is masked
   * anew for each request, so that the size of compressed pages does not reveal it (BREACH).
   */
  formToken: string
}

export interface Owners {
  /** Null if nobody is signed in; redirect to `signInAddress` then. Rejects while the database is unavailable. */
  ownerOf(request: Request): Promise<Owner | null>
}

interface OwnersParts {
  sql: Sql
  gate: Pick<Gate, "run">
  publicUrl: string
}

/** Name of the form field with the CSRF token. */
export const FORM_FIELD = "form"

export function createOwners({ sql, gate, publicUrl }: OwnersParts): Owners {
  return {
    async ownerOf(request) {
      const token = tokenOf(request, publicUrl)
      const session = token === null ? null : await gate.run(() => readSession(sql, token))
      return session && { ...session, formToken: masked(formTokenOf(token!)) }
    },
  }
}

/** Whether a form was sent from a page of this session. Another site cannot know the token. */
export function isOwnForm(owner: Owner, fields: URLSearchParams): boolean {
  const sent = unmasked(fields.get(FORM_FIELD) ?? "")
  const expected = unmasked(owner.formToken)
  return sent !== null && expected !== null && timingSafeEqual(sent, expected)
}

/** Returns the sign-in page that redirects to `back`, a path and query of this server, afterwards. */
export function signInAddress(back: string): string {
  return `/sign-in?${new URLSearchParams({ next: back })}`
}

/** Whether the text is a path of this server, with or without query. Anything else would be an open redirect. */
export function isOwnPath(text: string): boolean {
  if (!/^\/(?![/\\])[!-~]*$/.test(text) || text.includes("\\")) return false
  return URL.parse(text, "http://here.invalid")?.origin === "http://here.invalid"
}

/**
 * Returns the session token in a request's cookie, which may have expired. Null without one. On https only the cookie
 * with the __Host- prefix counts, because a sibling host or plain http can set the other one for the whole domain.
 */
export function tokenOf({ headers }: Request, publicUrl: string): string | null {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="))
  const value = pairs.find(([name]) => name === cookieName(publicUrl))?.[1]
  return value !== undefined && isSessionToken(value) ? value : null
}

/**
 * Returns the Set-Cookie value of a session: limited to this host, hidden from scripts, and not sent with forms of
 * other sites. Null deletes the cookie.
 */
export function sessionCookie(token: string | null, publicUrl: string): string {
  const seconds = token === null ? 0 : SESSION_HOURS * 3_600
  const attributes = ["Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${seconds}`]
  if (isSecure(publicUrl)) attributes.push("Secure")
  return [`${cookieName(publicUrl)}=${token ?? ""}`, ...attributes].join("; ")
}

function cookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? SECURE_COOKIE : COOKIE
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith("https:")
}

/** Browsers accept a cookie of this name only over TLS and for the host that set it. */
const SECURE_COOKIE = "__Host-appmeter"
const COOKIE = "appmeter"

function formTokenOf(token: string): Buffer {
  return createHmac("sha256", token).update("form").digest()
}

const TOKEN_BYTES = 32

/** Returns a random pad, and the token combined with it. */
function masked(token: Buffer): string {
  const pad = randomBytes(TOKEN_BYTES)
  return Buffer.concat([pad, combined(pad, token)]).toString("base64url")
}

/** Null if the text is not a masked token. */
function unmasked(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url")
  if (bytes.length !== 2 * TOKEN_BYTES) return null
  return combined(bytes.subarray(0, TOKEN_BYTES), bytes.subarray(TOKEN_BYTES))
}

function combined(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] as number)))
}
