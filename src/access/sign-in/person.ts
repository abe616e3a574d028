import { Buffer } from "node:buffer"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { TrustedProxies } from "../addresses.ts"
import type { Sealer } from "../sealed.ts"
import { type Proof, type ProofProblem, prove, proveSecondFactor } from "./proof.ts"
import { isSessionToken, readSession, renewSession, type Session } from "./session.ts"

/** The person who is signed in with a browser. Pages call `invoke` with `credentials: { grant: person.keyId }`. */
export interface Person extends Session {
  /**
   * CSRF token: the hidden field "form" of every form. It proves that the form was shown in this session. It is masked
   * anew for each request, so that the size of compressed pages does not reveal it (BREACH).
   */
  formToken: string
}

/** A request for a page. */
interface Visit {
  request: Request
  /** Address of the remote end of the connection. */
  peer: string | null
}

export interface People {
  /**
   * Returns the signed-in person. Null if nobody is signed in; redirect to `signInAddress` then. Rejects while the
   * database is unavailable.
   */
  personOf(visit: Visit): Promise<Person | null>
  /** Returns the name of the person whom a trusted proxy vouches for. Null unless such a proxy sent the request. */
  proxyNameOf(visit: Visit): string | null
  /**
   * Checks the passphrase and the second factor of a signed-in person again. Null if both are correct. Counts as tries,
   * as on the sign-in page.
   */
  prove(person: Session, proof: Proof): Promise<ProofProblem | null>
  /** Checks and uses up a code of the person's second factor. Null if the code is correct. */
  proveSecondFactor(personId: number, code: string, address: string | null): Promise<ProofProblem | null>
}

/** A proxy in front of this instance that signs people in and names them in a header. */
interface SignInProxy {
  header: string
  /** From any other peer the header is ignored, because anybody could send it. */
  trusted: TrustedProxies
}

interface PeopleParts {
  sql: Sql
  gate: Pick<Gate, "run">
  publicUrl: string
  /** How long a session lasts without use. */
  sessionDays: number
  /** The proxy that signs people in. Null if there is none. */
  proxy: SignInProxy | null
  /** Encrypts the secrets of second factors. */
  sealer?: Sealer | undefined
}

/** Name of the form field with the CSRF token. */
export const FORM_FIELD = "form"

export function createPeople({ sql, gate, publicUrl, sessionDays, proxy, sealer }: PeopleParts): People {
  const proofParts = { sql, gate, sealer }
  const proxyNameOf = ({ request, peer }: Visit): string | null => {
    const name = proxy?.trusted.includes(peer) ? request.headers.get(proxy.header)?.trim() : ""
    return name || null
  }
  return {
    proxyNameOf,
    prove: (person, proof) => prove(proofParts, person, proof),
    proveSecondFactor: (personId, code, address) => proveSecondFactor(proofParts, personId, code, address),
    async personOf(visit) {
      const token = tokenOf(visit.request, publicUrl)
      if (token === null) return null
      const found = await gate.run(() => readSession(sql, token))
      if (!found || !isVouchedFor(found, proxyNameOf(visit))) return null
      const { isOld, ...session } = found
      if (isOld) await gate.run(() => renewSession(sql, token, sessionDays))
      return { ...session, formToken: masked(formTokenOf(token)) }
    },
  }
}

/**
 * Whether the session is still valid behind a proxy. If the proxy names a person, it must be the session's person; if
 * the proxy began the session, it must name a person.
 */
function isVouchedFor({ via, person }: Session, proxyName: string | null): boolean {
  if (proxyName === null) return via !== "proxy"
  return proxyName.toLowerCase() === person.toLowerCase()
}

/** Whether a form was sent from a page of this session. Another site cannot know the token. */
export function isOwnForm(person: Pick<Person, "formToken">, fields: URLSearchParams): boolean {
  const sent = unmasked(fields.get(FORM_FIELD) ?? "")
  const expected = unmasked(person.formToken)
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
export function tokenOf(request: Request, publicUrl: string): string | null {
  const value = cookieOf(request, COOKIE, publicUrl)
  return value !== null && isSessionToken(value) ? value : null
}

/** Returns the value of a cookie that `hostCookie` set. Null without one. */
export function cookieOf({ headers }: Request, name: string, publicUrl: string): string | null {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="))
  return pairs.find(([sent]) => sent === hostName(name, publicUrl))?.[1] ?? null
}

/**
 * Returns the Set-Cookie value of a session: limited to this host, hidden from scripts, and not sent with forms of
 * other sites. Null deletes the cookie.
 */
export function sessionCookie(token: string | null, publicUrl: string): string {
  return hostCookie(COOKIE, token ?? "", { publicUrl, seconds: token === null ? 0 : COOKIE_SECONDS })
}

/** Returns the Set-Cookie value of a cookie with the attributes of the session's. */
export function hostCookie(
  name: string,
  value: string,
  { publicUrl, seconds }: { publicUrl: string; seconds: number },
): string {
  const attributes = ["Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${seconds}`]
  if (isSecure(publicUrl)) attributes.push("Secure")
  return [`${hostName(name, publicUrl)}=${value}`, ...attributes].join("; ")
}

/** The longest time that browsers store a cookie. The session of the cookie ends earlier and is renewed by use. */
const COOKIE_SECONDS = 400 * 86_400

/** Browsers accept a cookie with the prefix only over TLS and for the host that set it. */
function hostName(name: string, publicUrl: string): string {
  return isSecure(publicUrl) ? `__Host-${name}` : name
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith("https:")
}

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

/** Returns the token. Null if the text is not a masked token. */
function unmasked(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url")
  if (bytes.length !== 2 * TOKEN_BYTES) return null
  return combined(bytes.subarray(0, TOKEN_BYTES), bytes.subarray(TOKEN_BYTES))
}

function combined(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] as number)))
}
