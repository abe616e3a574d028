import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import type { FaultCode } from "../faults.ts"

// biome-ignore lint/suspicious/noExplicitAny: the schema of any value, whatever it is made of
export type Schema = v.GenericSchema<any, any>
export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>

/** A field whose bad value raises `code` instead of invalid_arguments; the code shows in the document as x-code. */
export function coded<S extends Schema>(schema: S, code: FaultCode) {
  return v.pipe(schema, v.metadata({ "x-code": code }))
}

/** A field with a sentence for the reference. */
export function described<S extends Schema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description))
}

/** The schema inside optional, nullable and their kin. */
export function unwrap(schema: Schema): Schema {
  let inner = schema as Schema & { wrapped?: Schema }
  while (inner.wrapped) inner = inner.wrapped as typeof inner
  return inner
}

/** The fault code of a bad value of this field. */
export function codeOf(schema: Schema | undefined): FaultCode {
  if (!schema) return "invalid_arguments"
  const metadata: { "x-code"?: FaultCode } = v.getMetadata(unwrap(schema))
  return metadata["x-code"] ?? "invalid_arguments"
}

/** JSON Schema 2020-12 without $schema, for the document and for tools alike. Checks cannot be expressed and are left out. */
export function jsonSchema(schema: Schema, typeMode: "input" | "output" = "output"): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, { target: "draft-2020-12", typeMode, ignoreActions: ["check"] })
  return withoutItemCodes(rest)
}

/** A bad item raises the code of its list (codeOf), not the one that the same value has where it stands alone. */
function withoutItemCodes(schema: JsonSchema, inList = false): JsonSchema {
  const entries = Object.entries(schema).flatMap(([name, held]) => {
    if (inList && name === "x-code") return []
    if (typeof held !== "object" || held === null) return [[name, held]]
    if (Array.isArray(held)) return [[name, held.map((one) => (isSchema(one) ? withoutItemCodes(one, inList) : one))]]
    return [[name, withoutItemCodes(held as JsonSchema, inList || name === "items")]]
  })
  return Object.fromEntries(entries)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
