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
    offer: described(v.string(), "The offer or its code, as named in the messages."),
    product: v.string(),
    firstDay: Day,
    lastDay: Day,
    redemptions: described(Count, "Starts and payments with the offer."),
  }),
)

export const OfferedPrice = named(
  "OfferedPrice",
  v.strictObject({
    product: described(v.string(), "SKU of the seller."),
    kind: described(
      v.picklist(OFFER_KINDS),
      "introductory: for new subscribers; promotional: for people selected by the app; code: for people with a code.",
    ),
    name: described(v.nullable(v.string()), "Name in the console. Null if there is none."),
    mode: described(v.nullable(v.string()), "FREE_TRIAL, PAY_AS_YOU_GO or PAY_UP_FRONT. Null if unknown."),
    duration: described(v.nullable(v.string()), "Duration of a period, such as ONE_MONTH. Null if unknown."),
    periods: described(v.nullable(Count), "Number of periods. Null if unknown."),
    active: described(
      v.nullable(v.boolean()),
      "True if the codes can be redeemed. Null for other offers and if unknown.",
    ),
    codes: described(v.nullable(Count), "Number of codes. Null for other offers and if unknown."),
    countries: described(v.nullable(v.array(Storefront)), "Storefronts of the offer. Null if it has no restriction."),
    starts: described(v.nullable(Day), "First day of the offer. Null if no day is set."),
    ends: described(v.nullable(Day), "Last day of the offer. Null if no day is set."),
    redemptions: described(
      v.nullable(Count),
      "Redemptions of subscription codes in the period. Null if no report was read, or if another offer has the " +
        "same name.",
    ),
    redeemedFrom: described(
      v.nullable(Day),
      "First day of the period that was read. Null whenever redemptions is null.",
    ),
    redeemedTo: described(v.nullable(Day), "Last day of the period that was read. Null whenever redemptions is null."),
    firstSeen: described(Time, "Time of the first reading with the offer."),
    lastSeen: described(Time, "Time of the latest reading with the offer; offers are read once a day."),
  }),
)

/** Returns an offer for the answer. Redemptions are null if no day of their report was read. */
function offeredShape(
  { sku, offer: _, firstSeen, lastSeen, ...offer }: ProductOffer,
  { reportedDays, from, to }: ReportSpan,
): v.InferOutput<typeof OfferedPrice> {
  const redemptions = reportedDays > 0 ? offer.redemptions : null
  const [redeemedFrom, redeemedTo] = redemptions === null ? [null, null] : [from, to]
  return {
    product: sku,
    ...offer,
    redemptions,
    redeemedFrom,
    redeemedTo,
    firstSeen: new Date(firstSeen).toISOString(),
    lastSeen: new Date(lastSeen).toISOString(),
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
