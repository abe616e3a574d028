import { Buffer } from "node:buffer"
import { createHmac, hash, timingSafeEqual } from "node:crypto"

/** A message as it came, before anything of it is parsed. */
export interface Message {
  headers: Headers
  body: Uint8Array
  at: Date
  /** SHA-256 of the certificates that the store's own follow from. */
  roots: readonly string[]
  /** Known bundle ids of the account's app. */
  bundleIds?: readonly string[]
}

/** A signature of another time is a message that somebody kept. */
const FRESH_MS = 5 * 60_000

/** Whether two texts are the same, in a time that tells nothing of either. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"))
}

/** By the header Authorization, as it was set at the service: the value itself, or as a bearer's. */
export function provesByHeader(secret: string, { headers }: Message): boolean {
  const sent = headers.get("authorization") ?? ""
  const [asIs, asBearer] = [isSame(sent, secret), isSame(sent, `Bearer ${secret}`)]
  return asIs || asBearer
}

/** By `t=…,v1=…`: HMAC-SHA256 over the moment, a point and the raw body; several v1 while the service changes its secret. */
export function provesByTimedSignature(secret: string, { headers, body, at }: Message, header: string): boolean {
  const parts = (headers.get(header) ?? "").split(",").map((part) => part.trim().split("=") as [string, string?])
  const seconds = parts.find(([name]) => name === "t")?.[1] ?? ""
  const expected = createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex")
  const matches = parts.filter(([name]) => name === "v1").map(([, value]) => isSame(value ?? "", expected))
  return matches.includes(true) && isFresh(seconds, at)
}

/** As Standard Webhooks (and Svix) have it: HMAC-SHA256 in base64 over id, moment and raw body, the secret behind whsec_. */
export function provesByWebhookSignature(secret: string, { headers, body, at }: Message): boolean {
  const sent = (name: string) => headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`) ?? ""
  const [id, seconds] = [sent("id"), sent("timestamp")]
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
  const expected = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest("base64")
  const matches = sent("signature")
    .split(" ")
    .map((one) => isSame(one, `v1,${expected}`))
  return matches.includes(true) && isFresh(seconds, at)
}

function isFresh(seconds: string, at: Date): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(at.getTime() - 1_000 * Number(seconds)) <= FRESH_MS
}
