import * as v from "valibot"
import { Fault } from "../../lib/faults.ts"
import { Country } from "../../lib/fields.ts"
import { bounded, coded, described } from "../../lib/schema.ts"
import { isStoreId, STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { bareText, storeIdInLink, whyNoApp } from "../../lib/store-pages.ts"

/** The storefront of a question about the market. */
export const MarketCountry = described(v.optional(Country, "us"), "Two-letter storefront code.")

/** The store of what is measured on the App Store alone. */
export const AppStoreAlone = v.optional(
  coded(v.pipe(v.picklist(["ios"]), v.description("Measured on iOS only.")), "unsupported_platform"),
  "ios",
)

/** Any app of either store. */
export const StoreAppId = coded(
  v.pipe(
    bounded(v.string(), { pattern: STORE_ID_PATTERNS.any }),
    v.maxLength(255),
    v.check((id) => platformOf(id) !== null),
    v.description("App Store id, 5 to 12 digits, or the package name of an app on Google Play."),
  ),
  "bad_app_id",
)

/** Any app of either store, as people name it. */
export const StoreAppLink = coded(
  v.pipe(
    v.string(),
    v.maxLength(2_000),
    // a link to another page passes: refuseOtherLink says what it leads to
    v.check((text) => storeIdIn(text) !== null || whyNoApp(text) !== null),
    v.description("Link to the app's store page, App Store id, or package name on Google Play."),
  ),
  "bad_app_id",
)

/** The store id in a link, or that a text is; null = neither. */
export function storeIdIn(text: string): string | null {
  const bare = bareText(text)
  return storeIdInLink(bare) ?? (platformOf(bare) && bare)
}

/** Throws for a store's link that leads to no app: a developer's, a collection's, a book's. */
export function refuseOtherLink(
  text: string,
  { code, field }: { code: "bad_app_id" | "bad_query"; field: string },
): void {
  const why = whyNoApp(text)
  if (why !== null) throw new Fault(code, { field, detail: why })
}

/** The store of an id that its schema has checked. */
export function platformOfChecked(id: string): "ios" | "android" {
  return isStoreId("ios", id) ? "ios" : "android"
}

/** The store that an id is of; null = of neither. */
export function platformOf(id: string): "ios" | "android" | null {
  if (isStoreId("ios", id)) return "ios"
  return isStoreId("android", id) ? "android" : null
}
