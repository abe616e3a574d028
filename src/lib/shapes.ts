import * as v from "valibot"
import { named } from "./schema.ts"
import { SOURCE_NAMES } from "./upstreams.ts"

export const Storefront = named("Storefront", v.pipe(v.string(), v.regex(/^[a-z]{2}$/)), "Two-letter storefront code.")
export const Store = named("Store", v.picklist(["ios", "android"]), "ios: App Store; android: Google Play.")
export const Source = named("Source", v.picklist(SOURCE_NAMES), "Source of the reading.")
export const Day = v.pipe(v.string(), v.isoDate(), v.description("A UTC day, YYYY-MM-DD."))
export const Time = v.pipe(v.string(), v.isoTimestamp())
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const Rank = v.pipe(v.number(), v.integer(), v.minValue(1))
