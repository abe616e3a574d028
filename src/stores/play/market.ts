import type { MarketFacts } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { at, count, currency, text } from "../../measuring/parsing/json.ts"
import { fact, fieldAt } from "./listing.ts"

/**
 * Returns the exact number of installs, which the page contains beside the rounded figure, and the in-app prices. A
 * page without in-app purchases has no price field. In-app prices are in the currency of the app's price. Throws
 * ReadFailure (`changed`).
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

/** Parses "$0.99 - $49.99 per item" or "¥1,200 per item". The format is English for any currency. */
function pricesOf(value: unknown): Prices | undefined {
  const [, first, last = first] = PRICES.exec(text(value) ?? "") ?? []
  if (first === undefined || last === undefined) return undefined
  const [least, most] = [first, last].map((price) => Number(price.replaceAll(",", ""))) as [number, number]
  return least <= most ? { least, most } : undefined
}

// The currency sign or code may be on either side.
const PRICE = "[^\\d<>\u2013-]{0,6}?(\\d{1,3}(?:,\\d{3}){0,4}(?:\\.\\d{1,2})?)[^\\d<>,.\u2013-]{0,4}?"
const PRICES = new RegExp(`^${PRICE}(?:\\s[-\u2013]\\s${PRICE})?\\sper item$`)
