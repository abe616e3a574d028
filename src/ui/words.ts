import { AT_FLOOR } from "../lib/figure-bands.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { type Html, html } from "./html.ts"

/** Returns "5,000", independent of the runtime's locale. */
export function whole(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",")
}

/**
 * Returns "$4,214.30" or "CHF 12.00". Each amount names its currency, because amounts in different currencies are never
 * summed.
 */
export function money(amount: string | number, currency: string): string {
  const value = Number(amount)
  if (!/^[A-Z]{3}$/.test(currency) || Number.isNaN(value)) return `${amount} ${currency}`
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(value)
}

/** Shows a figure. An unknown figure is a dash, which differs from zero. */
export function figure(value: number | null | undefined, digits = 0): Html | string {
  if (value === null || value === undefined) return html`<span class="quiet" title="not measured">–</span>`
  return digits > 0 ? value.toFixed(digits) : whole(value)
}

/** Shows an estimated popularity as a band, because it is not an exact number. */
export function popularityBand(low: number, high: number | null): Html {
  return html`<span title="${`Our estimate, on the scale of Apple Ads (5 to 100). ${AT_FLOOR}`}">${low}–${high}</span>`
}

/** Returns "1 keyword" or "3 keywords". */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : more}`
}

export const STORES = { ios: "App Store", android: "Google Play" } as const

/** Returns "United States · App Store". */
export function sideName({ country, platform }: { country: string; platform: "ios" | "android" }): string {
  return `${storefrontName(country)} · ${STORES[platform]}`
}

/** Converts an identifier such as "rank_drop" or "apiCredits" to words. */
export function spoken(name: string): string {
  const text = name
    .replaceAll(/[_-]+/g, " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
  const spelled = text.replaceAll(
    /\b(?:ai|api|ipad|revenuecat|app store connect|app store|google play)\b/g,
    (word) => WORDS[word] ?? word.toUpperCase(),
  )
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}

const WORDS: Record<string, string> = {
  ipad: "iPad",
  revenuecat: "RevenueCat",
  "app store connect": "App Store Connect",
  "app store": "App Store",
  "google play": "Google Play",
}

/** Converts a share between 0 and 1 to "12.4 %". */
export function percent(part: number): string {
  return `${Math.round(part * 1_000) / 10} %`
}
