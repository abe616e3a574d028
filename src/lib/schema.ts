import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import type { FaultCode } from "./faults.ts"

// biome-ignore lint/suspicious/noExplicitAny: the schema of any value, whatever it is made of
export type Schema = v.GenericSchema<any, any>
export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>

/**
 * Returns the schema of a field whose invalid value raises `code` instead of invalid_arguments. OpenAPI shows the code
 * as x-code.
 */
export function coded<S extends Schema>(schema: S, code: FaultCode) {
  return v.pipe(schema, v.metadata({ "x-code": code }))
}

/**
 * Returns the schema of a field with limits that only OpenAPI shows (x-limits), to keep tool lists short for language
 * models.
 */
export function bounded<S extends Schema>(
  schema: S,
  limits: { maxLength?: number; pattern?: string; maxItems?: number },
) {
  return v.pipe(schema, v.metadata({ "x-limits": limits }))
}

export function described<S extends Schema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description))
}

/** A deprecation, with days in UTC: announced on `since`, may be removed from `until` on, at least a year later. */
export interface Deprecation {
  since: string
  until: string
  /** A sentence that names the replacement. */
  instead: string
}

export function deprecationText({ since, until, instead }: Deprecation): string {
  return `Deprecated since ${since}, may be gone from ${until}: ${instead}`
}

/** Marks a field as deprecated: in every document, and by a deprecation header in responses to calls that send it. */
export function deprecated<S extends Schema>(schema: S, deprecation: Deprecation) {
  const meaning = v.getDescription(schema) ?? v.getDescription(unwrap(schema)) ?? ""
  return v.pipe(
    schema,
    v.description(`${meaning} ${deprecationText(deprecation)}`.trim()),
    v.metadata({ deprecated: true, "x-deprecation": deprecation }),
  )
}

export function deprecationOf(schema: Schema): Deprecation | undefined {
  const found = [schema, unwrap(schema)].map((item) => v.getMetadata(item)["x-deprecation"])
  return found.find((item) => item !== undefined) as Deprecation | undefined
}

/** Converts an id to a type name of the document: list_apps becomes ListApps. */
export function capitalised(id: string): string {
  return id.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Gives a shape a name in the document, wherever it is used: App, Keyword, Review. `about` describes it there. */
export function named<S extends Schema>(name: string, schema: S, about?: string) {
  return v.pipe(schema, v.title(name), v.metadata(about === undefined ? {} : { "x-about": about }))
}

/**
 * Returns the schema of an object with all fields of a named object and further fields. The OpenAPI document expresses
 * this as an extension.
 */
export function extending<S extends Schema>(base: Schema, schema: S) {
  return v.pipe(
    schema,
    v.metadata({
      // Lazy: only the document reads it, long after the start.
      get "x-extends"() {
        return shapedSchema(base)
      },
    }),
  )
}

/** Returns the schema of a list's items, unwrapped. Undefined if the schema is not a list. */
export function itemSchema(list: Schema): Schema | undefined {
  const { item } = unwrap(list) as Schema & { item?: Schema }
  return item && unwrap(item)
}

export function unwrap(schema: Schema): Schema {
  let inner = schema as Schema & { wrapped?: Schema }
  while (inner.wrapped) inner = inner.wrapped as typeof inner
  return inner
}

export function codeOf(schema: Schema | undefined): FaultCode {
  if (!schema) return "invalid_arguments"
  const metadata: { "x-code"?: FaultCode } = v.getMetadata(unwrap(schema))
  return metadata["x-code"] ?? "invalid_arguments"
}

/** Returns JSON Schema 2020-12 without $schema. Omits checks, which it cannot express. */
export function jsonSchema(schema: Schema, typeMode: "input" | "output" = "output"): JsonSchema {
  return spelledOut(shapedSchema(schema, typeMode))
}

/**
 * Returns the same as jsonSchema, with x-about (the description of a named shape) and x-extends (the shape it extends).
 */
export function shapedSchema(schema: Schema, typeMode: "input" | "output" = "output"): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, { target: "draft-2020-12", typeMode, ignoreActions: ["check"] })
  return withoutItemCodes(rest)
}

function spelledOut<T>(inner: T): T {
  if (Array.isArray(inner)) return inner.map(spelledOut) as T
  if (!isSchema(inner)) return inner
  const { "x-extends": _, ...rest } = inner as Record<string, unknown>
  const shape = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, spelledOut(value)]))
  const about = shape["x-about"]
  return (typeof about === "string" && shape.description === undefined ? { description: about, ...shape } : shape) as T
}

/**
 * Removes the codes of list items, because an invalid item raises the code of its list (codeOf). Removes the default
 * code, too.
 */
function withoutItemCodes(schema: JsonSchema, inList = false): JsonSchema {
  const entries = Object.entries(schema).flatMap(([name, inner]) => {
    if (name === "x-code" && (inList || inner === "invalid_arguments")) return []
    if (typeof inner !== "object" || inner === null) return [[name, inner]]
    if (Array.isArray(inner))
      return [[name, inner.map((item) => (isSchema(item) ? withoutItemCodes(item, inList) : item))]]
    return [[name, withoutItemCodes(inner as JsonSchema, inList || name === "items")]]
  })
  return Object.fromEntries(entries)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
