import { isStoreId } from "./store-ids.ts"

type Platform = "ios" | "android"

export const STORES = { ios: "the App Store", android: "Google Play" } as const

export function appPage(platform: Platform, storeId: string, country: string): string {
  return platform === "ios"
    ? `https://apps.apple.com/${country}/app/id${storeId}`
    : `https://play.google.com/store/apps/details?id=${storeId}`
}

export function searchPage(platform: Platform, term: string, country: string): string {
  const asked = encodeURIComponent(term)
  return platform === "ios"
    ? `https://apps.apple.com/${country}/iphone/search?term=${asked}`
    : `https://play.google.com/store/search?q=${asked}&c=apps&gl=${country.toUpperCase()}`
}

/** The store id in the address of an app's page, or of "id" and digits as Apple writes it; null when there is none. */
export function storeIdInLink(text: string): string | null {
  const [, digits] = /^(?:id|(?:https?:\/\/)?(?:apps|itunes)\.apple\.com\/\S*\/id)(\d+)(?:[/?#]\S*)?$/i.exec(text) ?? []
  if (digits !== undefined) return isStoreId("ios", digits) ? digits : null
  const [, name] =
    /^(?:https?:\/\/)?play\.google\.com\/store\/apps\/details\?(?:\S*&)?id=([\w.]+)(?:[&#]\S*)?$/i.exec(text) ?? []
  return name !== undefined && isStoreId("android", name) ? name : null
}
