import * as v from "valibot"
import { textUpTo } from "../../lib/fields.ts"
import { keysOf } from "../../lib/objects.ts"
import { described } from "../../lib/schema.ts"

/** The two resources that hold an app's texts, each with its own state. */
export type Half = "info" | "version"

interface ListingField {
  half: Half
  /** Maximum number of characters that the console accepts. */
  most: number
  /** True if the field must not be empty. */
  needed?: true
  isAddress?: true
}

const ADDRESS = { most: 255, isAddress: true } as const

/** Listed in display order. */
export const LISTING_FIELDS = {
  name: { half: "info", most: 30, needed: true },
  subtitle: { half: "info", most: 30 },
  privacyPolicyUrl: { half: "info", ...ADDRESS },
  keywords: { half: "version", most: 100 },
  description: { half: "version", most: 4_000 },
  promotionalText: { half: "version", most: 170 },
  whatsNew: { half: "version", most: 4_000 },
  supportUrl: { half: "version", ...ADDRESS },
  marketingUrl: { half: "version", ...ADDRESS },
} as const satisfies Record<string, ListingField>

export type FieldName = keyof typeof LISTING_FIELDS
export const FIELD_NAMES = keysOf(LISTING_FIELDS)

export type Texts = Partial<Record<FieldName, string | null>>

export function fieldsOf(half: Half, texts: Texts): FieldName[] {
  return FIELD_NAMES.filter((name) => LISTING_FIELDS[name].half === half && texts[name] !== undefined)
}

/** The console accepts no version for review if one of these is empty. */
export const NEEDED_FOR_REVIEW: readonly FieldName[] = ["description", "keywords", "supportUrl"]

const shapeOf = (name: FieldName) => {
  const field: ListingField = LISTING_FIELDS[name]
  const text = field.isAddress
    ? v.pipe(
        textUpTo(field.most),
        v.check((value) => /^https:\/\/[^\s]+$/.test(value) && URL.canParse(value)),
      )
    : textUpTo(field.most)
  return v.optional(field.needed ? text : v.nullable(text))
}

/** The fields that a call may change; null empties a field. */
export const Fields = described(
  v.strictObject(
    Object.fromEntries(FIELD_NAMES.map((name) => [name, shapeOf(name)])) as Record<
      FieldName,
      ReturnType<typeof shapeOf>
    >,
  ),
  "The changes: a text sets a field, null empties it, and an omitted field stays as it is. The name cannot be " +
    "emptied; URLs begin with https://.",
)

export const ShownTexts = v.strictObject(
  Object.fromEntries(FIELD_NAMES.map((name) => [name, v.optional(v.nullable(v.string()))])) as Record<
    FieldName,
    v.OptionalSchema<v.NullableSchema<v.StringSchema<undefined>, undefined>, undefined>
  >,
)
