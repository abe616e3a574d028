import * as v from "valibot"
import { Fault } from "../../lib/faults.ts"
import { Country } from "../../lib/fields.ts"
import { bounded, coded, described } from "../../lib/schema.ts"
import { isStoreId, STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { bareText, storeIdInLink, whyNoApp } from "../../lib/store-pages.ts"

/** Storefront parameter of market operations. */
export const MarketCountry = described(v.optional(Country, "us"), "Two-letter storefront code.")

/** Platform parameter of operations that support only the App Store. */
export const AppStoreAlone = v.optional(
  coded(v.pipe(v.picklist(["ios"]), v.description("Only ios.")), "unsupported_platform"),
  "ios",
)

/** An app id of either store. */
export const StoreAppId = coded(
  v.pipe(
    bounded(v.string(), { pattern: STORE_ID_PATTERNS.any }),
    v.maxLength(255),
    v.check((id) => platformOf(id) !== null),
    v.description("App Store id (5 to 12 digits) or Google Play package name."),
  ),
  "bad_app_id",
)

/** An app of either store, given by link or id. */
export const StoreAppLink = coded(
  v.pipe(
    v.string(),
    v.maxLength(2_000),
    // links to other pages pass this schema, so that `refuseOtherLink` can explain what they lead to
    v.check((text) => storeIdIn(text) !== null || whyNoApp(text) !== null),
    v.description("Link to the store page, App Store id, or Google Play package name."),
  ),
  "bad_app_id",
)

/** Returns the store id that a link contains, or the text itself if it is a store id. Null if it is neither. */
export function storeIdIn(text: string): string | null {
  const bare = bareText(text)
  return storeIdInLink(bare) ?? (platformOf(bare) && bare)
}

/** Throws for a store link that leads to something other than an app: a developer, a collection, a book. */
export function refuseOtherLink(
  text: string,
  { code, field }: { code: "bad_app_id" | "bad_query"; field: string },
): void {
  const why = whyNoApp(text)
  if (why !== null) throw new Fault(code, { field, detail: why })
}

/** Returns the store of an id that its schema has validated. */
export function platformOfChecked(id: string): "ios" | "android" {
  return isStoreId("ios", id) ? "ios" : "android"
}

/** Returns the store to which an id belongs. Null if the id is valid in neither store. */
export function platformOf(id: string): "ios" | "android" | null {
  if (isStoreId("ios", id)) return "ios"
  return isStoreId("android", id) ? "android" : null
}
