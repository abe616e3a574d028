import { DEMO, type Platform } from "./provenance.ts"

/** Prefix of the demo's feeds. No storefront or language begins with it, so that no demo review counts as a store's. */
export const DEMO_FEED = "demo-"

/**
 * Prefix of the feeds of connected consoles of Google Play. They have the reviews of one account that the store's page
 * did not show, and belong to its workspace.
 */
export const CONSOLE_FEED = "console-"
/** The language of reviews whose console names none (BCP 47: undetermined). */
export const NO_LANGUAGE = "und"

export function consoleFeedOf(account: string, language: string = NO_LANGUAGE): string {
  return `${CONSOLE_FEED}${account}-${language}`
}

/** Returns the language of a console's feed. Null for any other feed. */
export function consoleLanguage(feed: string): string | null {
  return /^console-\w+-(.+)$/.exec(feed)?.[1] ?? null
}

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
