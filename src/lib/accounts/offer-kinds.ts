/** Introductory offers for new subscribers, offers that the app makes to subscribers it selects, and offer codes. */
export const OFFER_KINDS = ["introductory", "promotional", "code"] as const
export type OfferKind = (typeof OFFER_KINDS)[number]
