import { withoutUndefined } from "../../../lib/objects.ts"
import { at } from "../../../measuring/parsing/json.ts"
import { fact } from "../../../measuring/parsing/required.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import type { Listing } from "../../../stores/kinds/listing-shape.ts"

type OfferFields = Pick<Listing, "price" | "currency" | "hasInAppPurchases">

/**
 * Returns the price. The page's own data has only a formatted price ("Get", "$1.99") and whether the app is free; the
 * number comes from the linked data.
 */
export function offerOf(page: unknown, linked: unknown): OfferFields {
  const shownOffer = at(page, "titleOfferDisplayProperties") ?? at(page, "lockup", "offerDisplayProperties")
  const isFree = fact(at(shownOffer, "isFree"), flag)
  const figure = fact(at(linked, "offers", "price"), amount)
  if (isFree !== undefined && figure !== undefined && isFree !== (figure === 0)) {
    throw new ReadFailure("changed", "the page names two prices")
  }
  return withoutUndefined<OfferFields>({
    price: figure ?? (isFree ? 0 : undefined),
    currency: fact(at(linked, "offers", "priceCurrency"), currency),
    hasInAppPurchases: fact(at(shownOffer, "hasInAppPurchases"), flag),
  })
}

function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined
}

function amount(value: unknown): number | undefined {
  const figure = typeof value === "string" && /^(?:0|[1-9]\d{0,8})(?:\.\d{1,4})?$/.test(value) ? Number(value) : value
  return typeof figure === "number" && figure >= 0 && figure < 1e12 ? figure : undefined
}

function currency(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z]{3}$/.test(value) ? value : undefined
}
