import { Buffer } from "node:buffer"
import { createHmac, hash, timingSafeEqual } from "node:crypto"

/** A message as it arrived, before any parsing. */
export interface Message {
  headers: Headers
  body: Uint8Array
  at: Date
  /** SHA-256 of the root certificates that may sign the store's messages. */
  roots: readonly string[]
  /** Known bundle ids of the account's app. */
  bundleIds?: readonly string[]
}

/** Maximum difference between the time of a signature and ours. With more, the message may be a replay. */
const FRESH_MS = 5 * 60_000

/** Compares two texts in constant time. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"))
}

/**
 * Checks the Authorization header against the secret set at the service, either as the plain value or as a bearer
 * token.
 */
export function provesByHeader(secret: string, { headers }: Message): boolean {
  const sent = headers.get("authorization") ?? ""
  const [asIs, asBearer] = [isSame(sent, secret), isSame(sent, `Bearer ${secret}`)]
  return asIs || asBearer
}

/**
 * Checks `t=…,v1=…`: HMAC-SHA256 over the timestamp, a dot and the raw body. There are several v1 while the service
 * rotates its secret.
 */
export function provesByTimedSignature(secret: string, { headers, body, at }: Message, header: string): boolean {
  const parts = (headers.get(header) ?? "").split(",").map((part) => part.trim().split("=") as [string, string?])
  const seconds = parts.find(([name]) => name === "t")?.[1] ?? ""
  const expected = createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex")
  const matches = parts.filter(([name]) => name === "v1").map(([, value]) => isSame(value ?? "", expected))
  return matches.includes(true) && isFresh(seconds, at)
}

/**
 * Checks the scheme of Standard Webhooks (and Svix): HMAC-SHA256 in base64 over id, timestamp and raw body, with the
 * secret after the prefix whsec_.
 */
export function provesByWebhookSignature(secret: string, { headers, body, at }: Message): boolean {
  const sent = (name: string) => headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`) ?? ""
  const [id, seconds] = [sent("id"), sent("timestamp")]
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
  const expected = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest("base64")
  const matches = sent("signature")
    .split(" ")
    .map((item) => isSame(item, `v1,${expected}`))
  return matches.includes(true) && isFresh(seconds, at)
}

function isFresh(seconds: string, at: Date): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(at.getTime() - 1_000 * Number(seconds)) <= FRESH_MS
}
