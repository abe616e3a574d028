import { DEMO, type Platform } from "./provenance.ts"

/** What the feed of the demo's reviews begins with: no storefront or language does, so that nobody reads them for a store's. */
export const DEMO_FEED = "demo-"

/**
 * The list that reviews stand in, as they are stored: a storefront's on the App Store, a language's on Google Play. The demo's
 * are held beside them, in a feed of their own.
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
