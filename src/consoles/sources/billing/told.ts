import { hash } from "node:crypto"
import { isStorefront } from "../../../lib/storefronts.ts"
import { cutText } from "../../../lib/text.ts"
import type { BillingObservation } from "../../kinds/billing.ts"

/** What a message tells: all of it that is kept. */
export type BillingMessage = Pick<
  BillingObservation,
  | "eventId" | "type" | "countsAs" | "environment" | "store" | "happenedAt" | "product" | "country" | "countryIs" | "currency"
  | "price" | "priceUsd" | "offer" | "quantity"
> // biome-ignore format: a list to scan

type Group = BillingMessage["countsAs"]

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Undefined for what is no text, or is empty. */
export function text(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  return typeof value === "string" && value !== "" ? cutText(value, 100) : undefined
}

const MAX_ID = 400

/** The id of a message. A longer one ends in its hash, so that ids that begin alike stay apart. */
export function idText(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length <= MAX_ID)
    return typeof value === "string" ? value || undefined : text(value)
  return `${cutText(value, MAX_ID)}:${hash("sha256", value, "hex")}`
}

/** Milliseconds or seconds since 1970, also as text, or ISO 8601. Undefined for what is no moment. */
export function moment(value: unknown): Date | undefined {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^\d{9,14}(\.\d+)?$/.test(value))
  const number = isNumber ? Number(value) : Number.NaN
  const at = new Date(
    isNumber ? (number < SECONDS_BELOW ? number * 1_000 : number) : typeof value === "string" ? value : Number.NaN,
  )
  return Number.isNaN(at.getTime()) ? undefined : at
}

/**
 * When it happened, to the day that the console counts it on. A message that is sent again is signed again, days later; and a
 * renewal is charged up to a day before its period begins. So the money of a purchase moved at the earlier of both moments.
 */
export function happened(toldAt: Date, boughtAt: unknown, countsAs: Group): Date {
  const bought = PURCHASES.includes(countsAs) ? moment(boughtAt) : undefined
  const isEarlier = bought && bought < toldAt && toldAt.getTime() - bought.getTime() < LATEST_MS
  return isEarlier ? bought : toldAt
}

const PURCHASES: readonly Group[] = ["paid_start", "trial_start", "trial_conversion", "renewal", "one_time", "upgrade"]
/** The App Store sends a message for three days. Of an earlier purchase the message tells something else. */
const LATEST_MS = 4 * 86_400_000

/** As milliseconds this would be the year 1973, before any store; as seconds it is the year 5138. */
const SECONDS_BELOW = 100_000_000_000

const MILLION = 1_000_000

/** Money as the decimal that a number of JSON stands for; `scale`: so many of its units are one. */
export function decimal(value: unknown, scale = 1): string | undefined {
  const amount = typeof value === "string" ? Number(value) : value
  if (typeof amount !== "number" || !Number.isFinite(amount) || Math.abs(amount) >= 1e12) return undefined
  return (Math.round((amount * MILLION) / scale) / MILLION).toFixed(6).replace(/\.?0+$/, "")
}

export function currency(value: unknown): string | undefined {
  const code = typeof value === "string" ? value.toUpperCase() : ""
  return /^[A-Z]{3}$/.test(code) ? code : undefined
}

export function country(value: unknown): string | undefined {
  const code = typeof value === "string" ? value.toLowerCase() : ""
  return isStorefront(code) ? code : undefined
}

/** Some messages name none: only what is named otherwise is of a sandbox. */
export function environment(value: unknown): BillingMessage["environment"] {
  const isNamed = typeof value === "string" && value !== ""
  return isNamed && !/^prod/i.test(value) ? "sandbox" : "production"
}

/** A refund counts below zero and a refund that was reversed above it, whatever sign the sender gives them. */
export function signed(price: string | undefined, countsAs: Group): string | undefined {
  if (price === undefined || price === "0") return price
  const amount = price.replace(/^-/, "")
  if (countsAs === "refund") return `-${amount}`
  return countsAs === "refund_reversed" ? amount : price
}
