import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"

/** A token for a link that needs no key: 32 random bytes as 43 characters of base64url. */
export function makeLinkToken(): string {
  return randomBytes(32).toString("base64url")
}

/** Whether a text has the form of a token; says nothing about whether there is such a link. */
export function isLinkToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/** SHA-256 of a token, the only form in which it is stored. It is random, so it needs no salt and no slow hash. */
export function linkDigest(token: string): Buffer {
  return hash("sha256", token, "buffer")
}
