import * as v from "valibot"
import { jsonSchema, type Schema } from "../lib/schema.ts"

export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * A value's shape in the one subset that every provider takes: closed objects whose properties are all required, lists,
 * texts, whole numbers, true or false. Lengths, ranges and patterns are checked on arrival alone. Throws where a schema
 * says anything else: it is a constant, and a test says each.
 */
export function writerSchema(schema: Schema): JsonSchema {
  return subsetOf(jsonSchema(schema) as JsonSchema)
}

const TYPES = ["string", "integer", "boolean"]

function subsetOf(schema: JsonSchema): JsonSchema {
  const { type, properties, required, additionalProperties, items } = schema
  const description = typeof schema.description === "string" ? { description: schema.description } : {}
  if (type === "object") {
    const held = properties as Record<string, JsonSchema>
    const names = Object.keys(held)
    if (additionalProperties !== false || names.some((name) => !(required as string[]).includes(name)))
      throw new Error("a writer's object is closed, and all of it required")
    const inner = Object.fromEntries(names.map((name) => [name, subsetOf(held[name] as JsonSchema)]))
    return { type, ...description, properties: inner, required: names, additionalProperties: false }
  }
  if (type === "array") return { type, ...description, items: subsetOf(items as JsonSchema) }
  if (Array.isArray(schema.enum)) return { type: "string", ...description, enum: schema.enum }
  if (!TYPES.includes(type as string)) throw new Error(`a writer's schema has no ${JSON.stringify(type)}`)
  return { type, ...description }
}

/** What shows that the whole prompt was read: words that stand before its first record and behind its last one. */
export const Receipt = v.strictObject({ first: v.string(), last: v.string(), records: v.pipe(v.number(), v.integer()) })
