import type { Side } from "./observation/provenance.ts"

/** A workspace's app with the fields that ranks need. iosApp and androidApp are store_app ids. */
export interface RankedApp {
  id: string
  countries: string[]
  iosApp: number | null
  androidApp: number | null
}

/**
 * Returns the app's store_app id on a platform. Null if it has none or does not track the storefront: nothing is
 * measured then.
 */
export function ownId(app: RankedApp, { platform, storefront }: Side): number | null {
  if (!app.countries.includes(storefront)) return null
  return platform === "ios" ? app.iosApp : app.androidApp
}
