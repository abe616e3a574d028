import * as v from "valibot"
import type { ProductOffer } from "../../accounts/seller/read-offers.ts"
import { OFFER_KINDS } from "../../vocabulary/accounts/offer-kinds.ts"
import { described, named } from "../../vocabulary/schema.ts"
import { Count, Day, Storefront, Time } from "../shapes.ts"

export const RedeemedOffer = named(
  "RedeemedOffer",
  v.strictObject({
    offer: described(v.string(), "The offer, or its code, as the messages name it."),
    product: v.string(),
    firstDay: Day,
    lastDay: Day,
    redemptions: described(Count, "Messages of something begun or paid with it."),
  }),
)

export const OfferedPrice = named(
  "OfferedPrice",
  v.strictObject({
    product: described(v.string(), "The seller's SKU."),
    kind: described(
      v.picklist(OFFER_KINDS),
      "introductory: to new subscribers; promotional: by the app, to those it chooses; code: to who has a code.",
    ),
    name: described(v.nullable(v.string()), "As the console names it; null = it has none."),
    mode: described(
      v.nullable(v.string()),
      "FREE_TRIAL, PAY_AS_YOU_GO or PAY_UP_FRONT, in Apple's words; null = not said.",
    ),
    duration: described(v.nullable(v.string()), "Of one period, such as ONE_MONTH; null = not said."),
    periods: described(v.nullable(Count), "How many of these; null = not said."),
    active: described(v.nullable(v.boolean()), "Of codes: whether they can be redeemed; null = not said."),
    codes: described(v.nullable(Count), "Codes that were made; null = it is of none, or not said."),
    countries: described(v.nullable(v.array(Storefront)), "Storefronts that it is for; null = it is of none alone."),
    starts: described(v.nullable(Day), "Null = no day is set."),
    ends: described(v.nullable(Day), "The same."),
    firstSeen: described(Time, "When the console first listed it to us."),
    lastSeen: described(Time, "When it last did; read once a day."),
  }),
)

export function offeredShape({
  sku,
  offer: _,
  firstSeen,
  lastSeen,
  ...offer
}: ProductOffer): v.InferOutput<typeof OfferedPrice> {
  return { product: sku, ...offer, firstSeen: firstSeen.toISOString(), lastSeen: lastSeen.toISOString() }
}
