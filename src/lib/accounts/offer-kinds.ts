/** Offers to new subscribers, offers by the app to subscribers it selects, and offers with a code. */
export const OFFER_KINDS = ["introductory", "promotional", "code"] as const
export type OfferKind = (typeof OFFER_KINDS)[number]
