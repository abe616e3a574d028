import { AT_FLOOR } from "../lib/figure-bands.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { type Html, html } from "./html.ts"

/** "5,000": the same under every runtime's settings. */
export function whole(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",")
}

/** A figure that may not be known, which is not zero. */
export function figure(value: number | null | undefined, digits = 0): Html | string {
  if (value === null || value === undefined) return html`<span class="quiet" title="not measured">–</span>`
  return digits > 0 ? value.toFixed(digits) : whole(value)
}

/** An estimated popularity, which is a band and no number. */
export function popularityBand(low: number, high: number | null): Html {
  return html`<span title="${`Our estimate, on the scale of Apple Ads (5 to 100). ${AT_FLOOR}`}">${low}–${high}</span>`
}

/** "1 keyword", "3 keywords". */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : more}`
}

export const STORES = { ios: "App Store", android: "Google Play" } as const

/** "United States · App Store". */
export function sideName({ country, platform }: { country: string; platform: "ios" | "android" }): string {
  return `${storefrontName(country)} · ${STORES[platform]}`
}

/** "rank_drop" and "apiCredits" as a person would say them. */
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

/** "12.4 %", of a share between 0 and 1. */
export function percent(part: number): string {
  return `${Math.round(part * 1_000) / 10} %`
}
