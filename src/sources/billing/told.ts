import type { BillingObservation } from "../../observations/kinds/billing.ts"
import { isStorefront } from "../../vocabulary/storefronts.ts"

/** What a message tells: all of it that is kept. */
export type BillingMessage = Pick<
  BillingObservation,
  | "eventId" | "type" | "countsAs" | "environment" | "store" | "happenedAt" | "product" | "country" | "countryIs" | "currency"
  | "price" | "priceUsd" | "offer"
> // biome-ignore format: a list to scan

type Group = BillingMessage["countsAs"]

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Undefined for what is no text, or is empty. */
export function text(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  return typeof value === "string" && value !== "" ? value.slice(0, 100) : undefined
}

/** Undefined for what is no moment. */
export function moment(value: unknown): Date | undefined {
  const at = new Date(typeof value === "number" || typeof value === "string" ? value : Number.NaN)
  return Number.isNaN(at.getTime()) ? undefined : at
}

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

export function environment(value: unknown): BillingMessage["environment"] {
  return /^prod/i.test(String(value)) ? "production" : "sandbox"
}

/** What was given back counts below nothing, whatever sign the sender gives it. */
export function signed(price: string | undefined, countsAs: Group): string | undefined {
  if (price === undefined || countsAs !== "refund" || price.startsWith("-") || price === "0") return price
  return `-${price}`
}
