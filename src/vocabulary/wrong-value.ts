import { nearest } from "./nearest.ts"
import { jsonSchema, type ObjectSchema, type Schema } from "./schema.ts"

/**
 * What is wrong with the value of a field and what is allowed there, in sentences for a caller: made of the schema alone,
 * so that nothing of the caller's own text comes back. Undefined where the code's own sentence says all there is to say.
 */
export function wrongValue(schema: ObjectSchema, name: string, value: unknown): string | undefined {
  if (!Object.hasOwn(schema.entries, name)) return unknownName(Object.keys(schema.entries), name)
  const entry = schema.entries[name] as Schema
  const allowed = allowedOf(jsonSchema(entry, "input") as Allowed)
  const must = allowed && `must be ${allowed}.`
  if (value === undefined) return [`${name} is missing`, must ? `: it ${must}` : "."].join("")
  if (!isEmpty(value)) return must && `${name} ${must}`
  const rest = entry.type === "optional" ? "leave it out, or give it a value" : "it needs a value"
  return [`${name} is empty: ${rest}.`, must && `It ${must}`].filter(Boolean).join(" ")
}

function unknownName(names: readonly string[], name: string): string {
  if (names.length === 0) return "The call takes no arguments."
  const meant = nearest(name.slice(0, 64), names)
  return `There is no such argument: the call takes ${names.join(", ")}.${meant ? ` Is ${meant} meant?` : ""}`
}

/** An empty list of a query comes as one of an empty text. */
function isEmpty(value: unknown): boolean {
  return value === "" || (Array.isArray(value) && value.length === 1 && value[0] === "")
}

/** The parts of a JSON Schema that a sentence is made of. */
interface Allowed {
  type?: string
  enum?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Allowed
}

function allowedOf(schema: Allowed): string | undefined {
  if (schema.enum) return `one of ${schema.enum.join(", ")}`
  switch (schema.type) {
    case "integer":
    case "number":
      return `a ${schema.type === "integer" ? "whole number" : "number"}${between(schema.minimum, schema.maximum)}`
    case "boolean":
      return "true or false"
    case "array":
      return listOf(schema)
    case "object":
      return "an object"
    case "string":
      return textOf(schema)
    default:
      return undefined
  }
}

function listOf({ items, minItems, maxItems }: Allowed): string {
  const each = items && allowedOf(items)
  return `a list${between(minItems, maxItems, " of")}${each ? `, each ${each}` : ""}`
}

/** A pattern is nothing to read: what it means is said by the code's own sentence. */
function textOf({ format, pattern, minLength, maxLength }: Allowed): string | undefined {
  if (format === "date") return "a day that there is, YYYY-MM-DD"
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
