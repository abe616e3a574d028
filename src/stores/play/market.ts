import type { MarketFacts } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { at, count, currency, text } from "../../measuring/parsing/json.ts"
import { fact, fieldAt } from "./listing.ts"

/**
 * How often the app was installed, exactly as the page has it beside its rounded figure, and what is sold within it: a page
 * whose app sells nothing lacks the prices, which it asks for by name. They are in the currency of the app's own price.
 * Throws ReadFailure (`changed`).
 */
export function marketOf(listing: unknown, offered: unknown): MarketFacts {
  const prices = fact(at(fieldAt(listing, 19), 0), pricesOf)
  return withoutUndefined<MarketFacts>({
    installs: fact(at(fieldAt(listing, 13), 2), count),
    hasInAppPurchases: prices !== undefined,
    inAppLeast: prices?.least,
    inAppMost: prices?.most,
    inAppCurrency: prices && fact(offered, currency),
  })
}

interface Prices {
  least: number
  most: number
}

/** "$0.99 - $49.99 per item" or "¥1,200 per item": in English, whatever the currency. */
function pricesOf(value: unknown): Prices | undefined {
  const [, first, last = first] = PRICES.exec(text(value) ?? "") ?? []
  if (first === undefined || last === undefined) return undefined
  const [least, most] = [first, last].map((price) => Number(price.replaceAll(",", ""))) as [number, number]
  return least <= most ? { least, most } : undefined
}

// The sign of a currency, or its code, may stand on either side.
const PRICE = "[^\\d<>\u2013-]{0,6}?(\\d{1,3}(?:,\\d{3}){0,4}(?:\\.\\d{1,2})?)[^\\d<>,.\u2013-]{0,4}?"
const PRICES = new RegExp(`^${PRICE}(?:\\s[-\u2013]\\s${PRICE})?\\sper item$`)
