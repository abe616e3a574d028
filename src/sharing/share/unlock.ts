import { Buffer } from "node:buffer"
import { createHmac, timingSafeEqual } from "node:crypto"
import { siteOf } from "../../access/addresses.ts"

/** The fields of a link with a password. Cookies and form tickets are signed with them. */
export interface LockedLink {
  token: string
  /**
   * A hash from `hashPassword`. It is used as signing key: its salt and tag are only in the database, and are the same
   * for all processes and after a restart.
   */
  password: string
  expiresAt: Date
}

/**
 * Returns the value of the cookie that is set after a correct password, so that wrong tries by others cannot lock this
 * reader out. It is the same for every reader of the link.
 */
export function unlockedValue(link: LockedLink): string {
  return signed(link, ["unlocked", link.expiresAt.toISOString()])
}

export function isUnlocked(link: LockedLink, value: string | undefined): boolean {
  return value !== undefined && isSame(value, unlockedValue(link))
}

/**
 * Returns the ticket of a password form: seconds since 1970 and a signature. It proves that the form was shown to this
 * address.
 */
export function formTicket(link: LockedLink, address: string | null, now: Date): string {
  const at = String(Math.floor(now.getTime() / 1_000))
  return `${at}.${signed(link, ["form", at, siteOf(address)])}`
}

/** The shortest plausible time to type a password, in seconds. */
const SHORTEST_S = 1
const LONGEST_S = 600

/** Returns true if the form was shown to this address between 1 second and 10 minutes ago. */
export function isFormTicket(link: LockedLink, address: string | null, now: Date, ticket: string | null): boolean {
  const [at = "", signature = ""] = ticket?.split(".") ?? []
  if (!/^\d{1,12}$/.test(at) || !isSame(signature, signed(link, ["form", at, siteOf(address)]))) return false
  const age = Math.floor(now.getTime() / 1_000) - Number(at)
  return age >= SHORTEST_S && age <= LONGEST_S
}

function signed({ token, password }: LockedLink, parts: readonly string[]): string {
  return createHmac("sha256", password)
    .update(JSON.stringify([token, ...parts]))
    .digest("base64url")
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
