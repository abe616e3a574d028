import * as v from "valibot"
import { jsonSchema, type Schema } from "../lib/schema.ts"

export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * Converts a schema to the subset that every provider accepts: closed objects with all properties required, lists,
 * texts, integers and booleans. Lengths, ranges and patterns are checked only on the answer. Throws for any other
 * schema: schemas are constants, and a test covers each.
 */
export function writerSchema(schema: Schema): JsonSchema {
  return subsetOf(jsonSchema(schema) as JsonSchema)
}

const TYPES = ["string", "integer", "boolean"]

function subsetOf(schema: JsonSchema): JsonSchema {
  const { type, properties, required, additionalProperties, items } = schema
  const description = typeof schema.description === "string" ? { description: schema.description } : {}
  if (type === "object") {
    const schemas = properties as Record<string, JsonSchema>
    const names = Object.keys(schemas)
    if (additionalProperties !== false || names.some((name) => !(required as string[]).includes(name)))
      throw new Error("an object in a writer's schema must be closed, with all properties required")
    const inner = Object.fromEntries(names.map((name) => [name, subsetOf(schemas[name] as JsonSchema)]))
    return { type, ...description, properties: inner, required: names, additionalProperties: false }
  }
  if (type === "array") return { type, ...description, items: subsetOf(items as JsonSchema) }
  if (Array.isArray(schema.enum)) return { type: "string", ...description, enum: schema.enum }
  if (!TYPES.includes(type as string)) throw new Error(`a writer's schema cannot contain ${JSON.stringify(type)}`)
  return { type, ...description }
}

/**
 * The model returns this as proof that it read the whole prompt: words before the first record and after the last one.
 */
export const Receipt = v.strictObject({ first: v.string(), last: v.string(), records: v.pipe(v.number(), v.integer()) })
