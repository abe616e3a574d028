import type { Side } from "./observation/provenance.ts"

/** A workspace's app as far as its ranks need it; iosApp and androidApp are store_app ids. */
export interface RankedApp {
  id: string
  countries: string[]
  iosApp: number | null
  androidApp: number | null
}

/** The app's store_app id on a platform, where it has one and tracks the storefront; else nothing there is measured. */
export function ownId(app: RankedApp, { platform, storefront }: Side): number | null {
  if (!app.countries.includes(storefront)) return null
  return platform === "ios" ? app.iosApp : app.androidApp
}
