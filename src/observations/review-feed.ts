import type { Platform } from "./provenance.ts"

/** The list that reviews stand in, as they are stored: a storefront's on the App Store, a language's on Google Play. */
export function feedOf({
  platform,
  storefront,
  language = "",
}: {
  platform: Platform
  storefront: string
  language?: string | undefined
}): string {
  return platform === "ios" ? storefront : language
}
