import * as v from "valibot"
import type { FaultCode } from "./faults.ts"
import { bounded, coded, described, type Schema, unwrap } from "./schema.ts"
import { isStorefront } from "./storefronts.ts"
import { isPathStep, normaliseTerm } from "./term.ts"

/** The id of a workspace's app, as GET /apps returns it. A call with such an input has this app as its subject. */
export const AppId = coded(
  v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.description("App id from list_apps.")),
  "invalid_arguments",
)

export const Country = coded(
  v.pipe(
    bounded(v.string(), { maxLength: 2 }),
    v.regex(/^[A-Za-z]{2}$/),
    v.check((code) => isStorefront(code.toLowerCase())),
    v.description("Two-letter storefront code."),
  ),
  "bad_country",
)

/** Also accepts an empty text, which counts as omitted. For parameters where the specification says "empty =". */
export const CountryOrEmpty = coded(
  v.pipe(
    bounded(v.string(), { maxLength: 2 }),
    v.regex(/^([A-Za-z]{2})?$/),
    v.check((code) => code === "" || isStorefront(code.toLowerCase())),
    v.description("Two-letter storefront code, or empty."),
  ),
  "bad_country",
)

/** The storefront of a call about an app. Default: the app's first storefront. */
export const AppCountry = described(
  v.optional(Country),
  "Two-letter storefront code. Default: the app's first storefront.",
)

export const Platform = v.optional(
  coded(
    v.pipe(
      v.picklist(["ios", "android"]),
      v.description("The store. Use android for an app that is only on Google Play."),
    ),
    "invalid_arguments",
  ),
  "ios",
)

export const Term = coded(
  v.pipe(
    v.string(),
    v.minLength(1),
    // JSON Schema counts code points, valibot's maxLength UTF-16 units.
    v.metadata({ maxLength: 150 }),
    v.check((text) => {
      const length = [...normaliseTerm(text)].length
      return length >= 1 && length <= 150 && !isPathStep(normaliseTerm(text))
    }),
    v.description("A keyword: trimmed, lower-cased, NFC. Inner white space counts."),
  ),
  "bad_term",
)

/** Returns the schema of a text of 1 to `most` code points, as JSON Schema counts. Valibot counts UTF-16 units. */
export function textUpTo(most: number) {
  return v.pipe(textOrEmptyUpTo(most), v.minLength(1))
}

/** Like textUpTo, but the schema allows an empty text. */
export function textOrEmptyUpTo(most: number) {
  return v.pipe(
    bounded(v.string(), { maxLength: most }),
    v.check((text) => [...text].length <= most),
  )
}

/**
 * Returns the schema of a whole number within bounds. Other values are refused with `code`, or with invalid_arguments
 * by default.
 */
export function wholeNumber(least: number, most: number, description: string, code?: FaultCode) {
  const schema = v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description))
  return code ? coded(schema, code) : schema
}

/** Returns whether an input is a storefront code or a list of storefront codes. */
export function isStorefrontCode(schema: Schema): boolean {
  const inner = unwrap(schema) as Schema & { item?: Schema }
  return inner.item ? isStorefrontCode(inner.item) : inner === Country || inner === CountryOrEmpty
}

/** Returns the normal form of a valid value for handlers. Undefined for an empty text where that counts as omitted. */
export function normalise(schema: Schema, value: unknown): unknown {
  const inner = unwrap(schema) as Schema & { item?: Schema }
  if (Array.isArray(value) && inner.item) return value.map((element) => normalise(inner.item as Schema, element))
  if (typeof value !== "string") return value
  if (inner === CountryOrEmpty && value === "") return undefined
  if (inner === Country || inner === CountryOrEmpty) return value.toLowerCase()
  if (inner === Term) return normaliseTerm(value)
  return value
}
