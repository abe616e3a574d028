/** To new subscribers, by the app to those it chooses, and to who has a code. */
export const OFFER_KINDS = ["introductory", "promotional", "code"] as const
export type OfferKind = (typeof OFFER_KINDS)[number]
