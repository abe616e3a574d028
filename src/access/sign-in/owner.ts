import { Buffer } from "node:buffer"
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { isSessionToken, type OwnerSession, readSession, SESSION_HOURS } from "./session.ts"

/** Who is signed in at a browser. Pages call `invoke` for them with `credentials: { grant: owner.keyId }`. */
export interface Owner extends OwnerSession {
  /** Stands in each form of a page as the field "form": whoever sends it was shown that page in this session. */
  formToken: string
}

export interface Owners {
  /** Null = nobody is signed in: `signInAddress` leads there and back. Rejects while the database is away. */
  ownerOf(request: Request): Promise<Owner | null>
}

interface OwnersParts {
  sql: Sql
  gate: Pick<Gate, "run">
  publicUrl: string
}

/** The field of a form that holds its token. */
export const FORM_FIELD = "form"

export function createOwners({ sql, gate, publicUrl }: OwnersParts): Owners {
  return {
    async ownerOf(request) {
      const token = tokenOf(request, publicUrl)
      const session = token === null ? null : await gate.run(() => readSession(sql, token))
      return session && { ...session, formToken: formTokenOf(token!) }
    },
  }
}

/** Whether a form was sent from a page of this session: another site can send its fields, but not this one. */
export function isOwnForm(owner: Owner, fields: URLSearchParams): boolean {
  const [sent, expected] = [Buffer.from(fields.get(FORM_FIELD) ?? ""), Buffer.from(owner.formToken)]
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/** Where somebody signs in who is then led back to an address of ours, path and query. */
export function signInAddress(back: string): string {
  return `/sign-in?${new URLSearchParams({ next: back })}`
}

/** A path of ours, with or without query; anything else would lead away from here. */
export function isOwnPath(text: string): boolean {
  if (!/^\/(?![/\\])[!-~]*$/.test(text) || text.includes("\\")) return false
  return URL.parse(text, "http://here.invalid")?.origin === "http://here.invalid"
}

/**
 * The session that a request's cookie names, which may have ended; null without one. On https only the cookie with the
 * __Host- prefix counts: a sibling host or plain http can set the other one for the whole domain.
 */
export function tokenOf({ headers }: Request, publicUrl: string): string | null {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="))
  const value = pairs.find(([name]) => name === cookieName(publicUrl))?.[1]
  return value !== undefined && isSessionToken(value) ? value : null
}

/** Sent back to no other host, read by no script, and with no form of another site; `null` takes it away. */
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

/** A browser keeps a cookie of this name for the one host that set it over TLS. */
const SECURE_COOKIE = "__Host-appmeter"
const COOKIE = "appmeter"

function formTokenOf(token: string): string {
  return createHmac("sha256", token).update("form").digest("base64url")
}
