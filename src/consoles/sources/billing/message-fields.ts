import { hash } from "node:crypto"
import { ownValue } from "../../../lib/objects.ts"
import { isStorefront } from "../../../lib/storefronts.ts"
import { cutText } from "../../../lib/text.ts"
import type { BillingObservation } from "../../kinds/billing.ts"
import type { CountedStore } from "../../kinds/billing-shape.ts"

/** The fields of a message that are stored. */
export type BillingMessage = Pick<
  BillingObservation,
  | "eventId"
  | "type"
  | "countsAs"
  | "environment"
  | "store"
  | "happenedAt"
  | "product"
  | "country"
  | "countryIs"
  | "currency"
  | "price"
  | "priceUsd"
  | "offer"
  | "quantity"
>

type Group = BillingMessage["countsAs"]

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Undefined if the value is not a text or is empty. */
export function text(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  return typeof value === "string" && value !== "" ? cutText(value, 100) : undefined
}

const MAX_ID = 400

/**
 * Returns the id of a message. A long id is cut and gets its hash appended, so that ids with the same beginning stay
 * distinct.
 */
export function idText(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length <= MAX_ID)
    return typeof value === "string" ? value || undefined : text(value)
  return `${cutText(value, MAX_ID)}:${hash("sha256", value, "hex")}`
}

/**
 * Parses a time: milliseconds or seconds since 1970, also as text, or ISO 8601. Undefined if the value is not a time.
 */
export function moment(value: unknown): Date | undefined {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^\d{9,14}(\.\d+)?$/.test(value))
  const number = isNumber ? Number(value) : Number.NaN
  const at = new Date(
    isNumber ? (number < SECONDS_BELOW ? number * 1_000 : number) : typeof value === "string" ? value : Number.NaN,
  )
  return Number.isNaN(at.getTime()) ? undefined : at
}

/**
 * Returns the time of the event, chosen such that its day matches the console's. A message that is sent again is signed
 * days later, and a renewal is charged up to a day before its period begins. A purchase is therefore dated at the
 * earlier of both times.
 */
export function happened(toldAt: Date, boughtAt: unknown, countsAs: Group): Date {
  const bought = PURCHASES.includes(countsAs) ? moment(boughtAt) : undefined
  const isEarlier = bought && bought < toldAt && toldAt.getTime() - bought.getTime() < LATEST_MS
  return isEarlier ? bought : toldAt
}

const PURCHASES: readonly Group[] = ["paid_start", "trial_start", "trial_conversion", "renewal", "one_time", "upgrade"]
/**
 * The App Store sends a message again for up to three days. If the purchase is older, the message is about a later
 * event.
 */
const LATEST_MS = 4 * 86_400_000

/**
 * Numbers above this are milliseconds. Read as milliseconds, this number is a time in 1973, before any store existed;
 * read as seconds, it is a time in the year 5138.
 */
const SECONDS_BELOW = 100_000_000_000

const MILLION = 1_000_000

/** Returns money as decimal text. `scale` is the number of the value's units per unit of the currency. */
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

/** Returns the store of a purchase. `names` maps the sender's names to the counted stores. */
export function storeIn(value: unknown, names: Readonly<Record<string, CountedStore>>): BillingMessage["store"] {
  return (typeof value === "string" && ownValue(names, value)) || "other"
}

/** Returns the environment. A message without one counts as production. */
export function environment(value: unknown): BillingMessage["environment"] {
  const isNamed = typeof value === "string" && value !== ""
  return isNamed && !/^prod/i.test(value) ? "sandbox" : "production"
}

/**
 * Returns the price with its sign: negative for refunds, positive for reversed refunds, whatever sign the sender uses.
 */
export function signed(price: string | undefined, countsAs: Group): string | undefined {
  if (price === undefined || price === "0") return price
  const amount = price.replace(/^-/, "")
  if (countsAs === "refund") return `-${amount}`
  return countsAs === "refund_reversed" ? amount : price
}
