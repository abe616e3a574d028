import { ownValue } from "../lib/objects.ts"

/** Display names of the stores. */
export const STORE_NAMES = { ios: "App Store", android: "Google Play" } as const

/** Returns the name of a source for use in a sentence. A source without a name is returned unchanged. */
export function sourceName(source: string): string {
  return ownValue(SOURCES, source) ?? source
}

/**
 * The name of the source of readings about the demo's invented app. They are stored like readings of another instance.
 */
export const DEMO_SOURCE = "the demo"

const SOURCES: Readonly<Record<string, string>> = {
  "apple-web-search": "App Store search on the web",
  "apple-store-search": "App Store search",
  "play-search": "Google Play search",
  import: "an imported reading",
  foreign: "another instance",
  "apple-app-page": "the app's page on the App Store",
  "apple-ads-report": "a report of Apple Ads",
  "apple-charts": "App Store charts",
  "apple-genres": "App Store categories",
  "apple-hints": "App Store suggestions",
  "apple-reviews": "App Store reviews",
  "app-ads-txt": "the developer's app-ads.txt",
  "itunes-developer": "Apple's list of a developer's apps",
  "itunes-lookup": "Apple's look-up service",
  "itunes-search": "Apple's search for apps",
  "play-details": "the app's page on Google Play",
  "play-reviews": "Google Play reviews",
  "play-suggest": "Google Play suggestions",
}
