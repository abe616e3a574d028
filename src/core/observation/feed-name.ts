import { DEMO, type Platform } from "./provenance.ts"

/**
 * Prefix of the demo's feeds. No storefront or language begins with it, so that no demo review is read as a store's.
 */
export const DEMO_FEED = "demo-"

/**
 * Returns the name of a review feed: the storefront on the App Store, the language on Google Play. The demo's reviews
 * have feeds of their own.
 */
export function feedOf({
  platform,
  storefront,
  language = "",
  origin,
}: {
  platform: Platform
  storefront: string
  language?: string | undefined
  origin?: string
}): string {
  const feed = platform === "ios" ? storefront : language
  return origin === DEMO ? `${DEMO_FEED}${feed}` : feed
}
