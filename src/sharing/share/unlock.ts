import { Buffer } from "node:buffer"
import { createHmac, timingSafeEqual } from "node:crypto"
import { siteOf } from "../../access/addresses.ts"

/** A link with a password, as what is signed for its readers needs it. */
export interface LockedLink {
  token: string
  /** As hashPassword gives it: salt and tag stand in the database alone, so it signs, over all processes and restarts. */
  password: string
  expiresAt: Date
}

/** Kept after the password, so that nobody's tries can shut the reader out. The same for every reader of the link. */
export function unlockedValue(link: LockedLink): string {
  return signed(link, ["unlocked", link.expiresAt.toISOString()])
}

export function isUnlocked(link: LockedLink, value: string | undefined): boolean {
  return value !== undefined && isSame(value, unlockedValue(link))
}

/** Stands in the form: whoever sends it was shown this page there. Seconds since 1970 and a signature. */
export function formTicket(link: LockedLink, address: string | null, now: Date): string {
  const at = String(Math.floor(now.getTime() / 1_000))
  return `${at}.${signed(link, ["form", at, siteOf(address)])}`
}

/** Nobody types a password in less. */
const SHORTEST_S = 1
const LONGEST_S = 600

/** Whether the form was shown to this address, long enough ago to be filled in and not ten minutes ago. */
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
