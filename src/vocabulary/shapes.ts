import * as v from "valibot"

export const Storefront = v.pipe(v.string(), v.regex(/^[a-z]{2}$/), v.description("Two-letter storefront code."))
export const Store = v.pipe(
  v.picklist(["ios", "android"]),
  v.description("ios = the App Store, android = Google Play."),
)
export const Day = v.pipe(v.string(), v.isoDate(), v.description("A UTC day, YYYY-MM-DD."))
export const Time = v.pipe(v.string(), v.isoTimestamp())
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const Rank = v.pipe(v.number(), v.integer(), v.minValue(1))
