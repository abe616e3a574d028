import * as v from "valibot"
import type { Context } from "../../core/operation.ts"
import { OFFER_KINDS } from "../../lib/accounts/offer-kinds.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Storefront, Time } from "../../tracking/shapes.ts"
import type { AppAccount, ReportSpan } from "../read/app-accounts.ts"
import { type ProductOffer, readListedOffers } from "../seller/listed-offers.ts"
import { reportQuery, sourceShape } from "./account-shapes.ts"

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
      "introductory: to new subscribers; promotional: to those the app chooses; code: to who has one.",
    ),
    name: described(v.nullable(v.string()), "As the console names it; null = it has none."),
    mode: described(v.nullable(v.string()), "FREE_TRIAL, PAY_AS_YOU_GO or PAY_UP_FRONT; null = not said."),
    duration: described(v.nullable(v.string()), "Of one period, such as ONE_MONTH; null = not said."),
    periods: described(v.nullable(Count), "How many of these; null = not said."),
    active: described(v.nullable(v.boolean()), "Of codes: whether they can be redeemed; null = not said."),
    codes: described(v.nullable(Count), "Codes that were made; null = it is of none, or not said."),
    countries: described(v.nullable(v.array(Storefront)), "Storefronts that it is for; null = it is of none alone."),
    starts: described(v.nullable(Day), "Null = no day is set."),
    ends: described(v.nullable(Day), "The same."),
    redemptions: described(
      v.nullable(Count),
      "Of subscriptions' codes, those days; null = not read, or another is named so.",
    ),
    redeemedFrom: described(v.nullable(Day), "First of those days that was read; null as redemptions."),
    redeemedTo: described(v.nullable(Day), "The last."),
    firstSeen: described(Time, "When first listed to us."),
    lastSeen: described(Time, "When it last was; read once a day."),
  }),
)

/** Redemptions are null if no day of their report was read. */
function offeredShape(
  { sku, offer: _, firstSeen, lastSeen, ...offer }: ProductOffer,
  { reportedDays, from, to }: ReportSpan,
): v.InferOutput<typeof OfferedPrice> {
  const redemptions = reportedDays > 0 ? offer.redemptions : null
  const [redeemedFrom, redeemedTo] = redemptions === null ? [null, null] : [from, to]
  return {
    ...{ product: sku, ...offer, redemptions, redeemedFrom, redeemedTo },
    ...{ firstSeen: new Date(firstSeen).toISOString(), lastSeen: new Date(lastSeen).toISOString() },
  }
}

/** Returns the offers, and how much of the redemptions report was read. */
export async function readOffered(
  seller: AppAccount | null,
  { days, ...query }: Parameters<typeof readListedOffers>[2] & { days: number },
  { sql, now }: Pick<Context, "sql" | "now">,
) {
  if (!seller) return { offered: null, redeemed: null }
  const { from, to } = reportQuery({ days }, now())
  const appOfAccount = { account: seller.id, app: seller.outsideId }
  const { offers, ...span } = await readListedOffers(sql, appOfAccount, query, { from, to })
  return {
    offered: offers.map((offer) => offeredShape(offer, span)),
    redeemed: sourceShape(seller, "offer_redemptions", span, days),
  }
}
