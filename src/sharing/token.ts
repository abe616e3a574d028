import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"

/** Creates a token for a link that needs no key: 32 random bytes as 43 characters of base64url. */
export function makeLinkToken(): string {
  return randomBytes(32).toString("base64url")
}

/** Checks only the format of a token, not whether the link exists. */
export function isLinkToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/**
 * Returns the SHA-256 of a token. Only this hash is stored. Tokens are random, so they need neither a salt nor a slow
 * hash.
 */
export function linkDigest(token: string): Buffer {
  return hash("sha256", token, "buffer")
}
