import type { SourceName } from "../../lib/upstreams.ts"

/** Display names of the stores. */
export const STORE_NAMES = { ios: "App Store", android: "Google Play" } as const

/** Returns the name of a source as used in a sentence. */
export function sourceName(source: SourceName): string {
  return SOURCES[source] ?? source
}

const SOURCES: Partial<Record<SourceName, string>> = {
  "apple-web-search": "App Store search on the web",
  "apple-store-search": "App Store search",
  "play-search": "Google Play search",
  import: "an imported reading",
  foreign: "another instance",
  "apple-app-page": "the app's page on the App Store",
  "itunes-lookup": "Apple's look-up service",
  "play-details": "the app's page on Google Play",
}
