import * as v from "valibot"
import { jsonSchema, type ObjectSchema, type Schema } from "./schema.ts"
import { nearest } from "./text.ts"

/** Returns a sentence for the caller: the received value and the allowed ones. Never repeats free text or keys. */
export function wrongValue(schema: ObjectSchema, name: string, value: unknown): string {
  if (!Object.hasOwn(schema.entries, name)) return unknownName(Object.keys(schema.entries), name)
  const entry = schema.entries[name] as Schema
  const shape = jsonSchema(entry, "input") as Shape
  const allowed = allowedOf(shape)
  const rule = allowed ? `It must be ${allowed}.` : `${shape.description ?? "It needs another value."}`
  if (value === undefined) return `${name} is missing. ${isFreeText(shape) ? (shape.description ?? rule) : rule}`
  if (isEmpty(value))
    return (
      `${name} is empty. ${entry.type === "optional" ? "Omit it or give it a value." : "It needs a value."} ` +
      `${rule}`
    )
  const { came, isChecked, meaning, meant } = whatCame(entry, shape, value)
  const hint = meant === undefined ? ukHint(meaning, came) : ` Did you mean ${meant}?`
  // The description explains what JSON Schema cannot express.
  if (isChecked || !allowed) return `${name} cannot be ${came}. ${meaning ?? rule}${hint}`
  return `${name} must be ${allowed}; received ${came}.${hint}`
}

/** Returns a hint for "uk", which is often mistaken for the code of a country. Empty for any other value. */
function ukHint(meaning: string | undefined, came: string): string {
  return /storefront/i.test(meaning ?? "") && /^"uk"/i.test(came) ? " The United Kingdom is gb." : ""
}

function unknownName(names: readonly string[], name: string): string {
  if (names.length === 0) return "This call takes no arguments."
  const meant = nearest(name.slice(0, 64), names)
  return `Unknown argument. This call takes ${names.join(", ")}.${meant ? ` Did you mean ${meant}?` : ""}`
}

/** Returns whether a value is empty. An empty list in a query is parsed as a list with one empty text. */
function isEmpty(value: unknown): boolean {
  return value === "" || (Array.isArray(value) && value.length === 1 && value[0] === "")
}

interface Shape {
  type?: string
  description?: string
  enum?: string[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  items?: Shape
}

function allowedOf(shape: Shape): string | undefined {
  if (shape.enum) return `one of ${shape.enum.join(", ")}`
  switch (shape.type) {
    case "integer":
    case "number":
      return `a ${shape.type === "integer" ? "whole number" : "number"}${between(shape.minimum, shape.maximum)}`
    case "boolean":
      return "true or false"
    case "array":
      return listOf(shape)
    case "object":
      return "an object"
    case "string":
      return textOf(shape)
    default:
      return undefined
  }
}

function listOf({ items, minItems, maxItems, uniqueItems }: Shape): string {
  const each = items && (allowedOf(items) ?? lowered(items.description))
  const size = between(minItems, maxItems, " of")
  return `a list${size}${each ? `, each ${each}` : ""}${uniqueItems ? ", none twice" : ""}`
}

function lowered(sentence: string | undefined): string | undefined {
  return sentence && `${sentence[0]?.toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`
}

/** Ignores patterns, which are not readable; the field's description explains them. */
function textOf({ format, pattern, minLength, maxLength }: Shape): string | undefined {
  if (format === "date") return "an existing day, YYYY-MM-DD"
  if (format || pattern) return undefined
  const length = between(minLength, maxLength, " of")
  return `text${length && `${length} characters`}`
}

function between(least: number | undefined, most: number | undefined, of = " from"): string {
  if (least === undefined && most === undefined) return ""
  if (most === undefined) return `${of} at least ${least}`
  if (least === undefined) return `${of} at most ${most}`
  return `${of} ${least} to ${most}`
}

/**
 * Returns the value, or the item of a list, that the schema refuses. `isChecked` is true if JSON Schema itself would
 * accept it.
 */
function whatCame(entry: Schema, shape: Shape, value: unknown) {
  const [issue] = v.safeParse(entry, value, { abortPipeEarly: true }).issues ?? []
  const key = Array.isArray(value) ? issue?.path?.[0]?.key : undefined
  const item = typeof key === "number" ? key : undefined
  const refused = item === undefined ? value : (value as unknown[])[item]
  const refusedShape = item === undefined ? shape : (shape.items ?? {})
  const isChecked = typeof refused === "string" && isFreeText(refusedShape) && fits(refused, refusedShape)
  const text = valueText(refused, isFreeText(refusedShape) && !isChecked)
  return {
    came: item === undefined ? text : `${text} as item ${item + 1}`,
    isChecked,
    meaning: refusedShape.description ?? shape.description,
    meant:
      refusedShape.enum && typeof refused === "string" ? nearest(refused.slice(0, 64), refusedShape.enum) : undefined,
  }
}

function isFreeText({ type, enum: options, format, pattern }: Shape): boolean {
  return type === "string" && !options && !format && !pattern
}

function fits(text: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Shape): boolean {
  const { length } = [...text]
  return length >= minLength && length <= maxLength
}

const MAX_QUOTED = 40

/** Returns a value as text for a sentence. Returns only the length of free text, because it may be a secret. */
function valueText(value: unknown, isFree = false): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === "object" && value !== null) return "an object"
  if (typeof value !== "string") return String(value)
  const characters = [...value]
  if (isFree) return `text of ${characters.length} characters`
  if (/svc_(live|test|access|refresh)_/i.test(value)) return "a key"
  const excerpt = characters
    .slice(0, MAX_QUOTED)
    .join("")
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}"]/gu, "·")
  return `"${excerpt}${characters.length > MAX_QUOTED ? "…" : ""}"`
}
