import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { ALPHABET, type RandomBytes, randomText } from "../lib/text.ts"

export type KeyKind = "live" | "test"

/** A grant is a key without a secret: its owner has signed in. */
export type CallerKind = KeyKind | "grant"

/** The tokens of a grant: the access token calls the API, the refresh token is exchanged for the next pair. */
type TokenKind = "access" | "refresh"

/**
 * Creates a key: svc_live_ or svc_test_, 30 random base62 characters (178 bits), and 6 characters of checksum over
 * everything before them. Tokens have the same form.
 */
export function makeKey(kind: KeyKind | TokenKind, randomBytes: RandomBytes): string {
  const body = `svc_${kind}_${randomText(SECRET_LENGTH, randomBytes)}`
  return body + checksum(body)
}

/**
 * Returns the kind of a well-formed key with a valid checksum, otherwise null. Does not check whether the key exists.
 */
export function parseKey(text: string): KeyKind | null {
  const kind = parseSecret(text)
  return kind === "live" || kind === "test" ? kind : null
}

/** Returns the kind of a well-formed token with a valid checksum, otherwise null. */
export function parseToken(text: string): TokenKind | null {
  const kind = parseSecret(text)
  return kind === "access" || kind === "refresh" ? kind : null
}

/** Whether the text has the form of a key or token. Does not check the checksum. */
export function isShaped(text: string): boolean {
  return SHAPE.test(text)
}

function parseSecret(text: string): KeyKind | TokenKind | null {
  const shape = SHAPE.exec(text)
  if (!shape) return null
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? (shape[1] as KeyKind | TokenKind) : null
}

/**
 * Returns the SHA-256 of a key or token, the only form in which it is stored. The secret is random, so it needs neither
 * salt nor a slow hash.
 */
export function keyDigest(text: string): Buffer {
  return hash("sha256", text, "buffer")
}

/** Returns the part of a key that may always be shown: its kind and last 4 characters, which belong to the checksum. */
export function keyHint(text: string): string {
  return `${text.slice(0, "svc_live_".length)}…${text.slice(-4)}`
}

const SECRET_LENGTH = 30
const CHECKSUM_LENGTH = 6
const SHAPE = /^svc_(live|test|access|refresh)_[0-9A-Za-z]{36}$/

// 62 ** 6 is above 2 ** 32, so six characters hold every CRC-32.
function checksum(body: string): string {
  let rest = crc32(body)
  let text = ""
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    text = ALPHABET[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
