const SALE_TYPES = ["download", "redownload", "update", "purchase", "subscription", "other"] as const
type SaleType = (typeof SALE_TYPES)[number]

/** Maps the meanings to the console's product type identifiers. Unlisted types are `other` and counted separately. */
const TYPES_SOLD_AS: Record<Exclude<SaleType, "other">, readonly string[]> = {
  // iPhone, universal, iPad; Mac; bundles; custom apps
  download: ["1", "1F", "1T", "F1", "1-B", "F1-B", "1E", "1EP", "1EU"],
  redownload: ["3", "3F", "3T", "F3"],
  update: ["7", "7F", "7T", "F7"],
  // consumable, non-consumable, and non-renewing subscriptions
  purchase: ["IA1", "IA1-M", "FI1", "IA9", "IA9-M"],
  subscription: ["IAY", "IAY-M", "IAC"],
}

/**
 * Those types in TYPES_SOLD_AS that are app bundles. Reports give a bundle its own SKU and do not list the apps in it.
 */
export const BUNDLE_TYPES = ["1-B", "F1-B"]

/** Returns the types and their meanings as parallel lists. */
export function soldThings(): { types: string[]; soldAs: SaleType[] } {
  const pairs = Object.entries(TYPES_SOLD_AS).flatMap(([soldAs, types]) => types.map((type) => [type, soldAs] as const))
  return { types: pairs.map(([type]) => type), soldAs: pairs.map(([, soldAs]) => soldAs as SaleType) }
}
