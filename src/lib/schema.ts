import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import type { FaultCode } from "./faults.ts"

// biome-ignore lint/suspicious/noExplicitAny: the schema of any value, whatever it is made of
export type Schema = v.GenericSchema<any, any>
export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>

/** A field whose bad value raises `code` instead of invalid_arguments; the code shows in the document as x-code. */
export function coded<S extends Schema>(schema: S, code: FaultCode) {
  return v.pipe(schema, v.metadata({ "x-code": code }))
}

/** A field with limits that only the HTTP document shows (x-limits): a model reads a tool's list whole. */
export function bounded<S extends Schema>(
  schema: S,
  limits: { maxLength?: number; pattern?: string; maxItems?: number },
) {
  return v.pipe(schema, v.metadata({ "x-limits": limits }))
}

export function described<S extends Schema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description))
}

/** What goes, in words and as days (UTC): told from `since` on, perhaps gone from `until` on, a year later at least. */
export interface Deprecation {
  since: string
  until: string
  /** A sentence: what to use in its place. */
  instead: string
}

export function deprecationText({ since, until, instead }: Deprecation): string {
  return `Deprecated since ${since}, may be gone from ${until}: ${instead}`
}

/** A field that goes: every document marks it, and an answer to a call that sends it says so in its headers. */
export function deprecated<S extends Schema>(schema: S, deprecation: Deprecation) {
  const meaning = v.getDescription(schema) ?? v.getDescription(unwrap(schema)) ?? ""
  return v.pipe(
    schema,
    v.description(`${meaning} ${deprecationText(deprecation)}`.trim()),
    v.metadata({ deprecated: true, "x-deprecation": deprecation }),
  )
}

export function deprecationOf(schema: Schema): Deprecation | undefined {
  const found = [schema, unwrap(schema)].map((one) => v.getMetadata(one)["x-deprecation"])
  return found.find((one) => one !== undefined) as Deprecation | undefined
}

/** list_apps as a name of the document: ListApps. */
export function capitalised(id: string): string {
  return id.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A shape that the document knows by this name, wherever it stands: App, Keyword, Review. `about` is said of all of them. */
export function named<S extends Schema>(name: string, schema: S, about?: string) {
  return v.pipe(schema, v.title(name), v.metadata(about === undefined ? {} : { "x-about": about }))
}

/** An object that has all of a named one and more: the document says it as that one and what is added. */
export function extending<S extends Schema>(base: Schema, schema: S) {
  return v.pipe(
    schema,
    v.metadata({
      // asked for by the document alone, long after the start
      get "x-extends"() {
        return shapedSchema(base)
      },
    }),
  )
}

/** The schema of a list's items, without its wrappers; undefined if the schema is no list. */
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

/** JSON Schema 2020-12 without $schema. Checks cannot be expressed and are left out. */
export function jsonSchema(schema: Schema, typeMode: "input" | "output" = "output"): JsonSchema {
  return spelledOut(shapedSchema(schema, typeMode))
}

/** The same for who names shapes: what is said of one wherever it stands is x-about, what it extends x-extends. */
export function shapedSchema(schema: Schema, typeMode: "input" | "output" = "output"): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, { target: "draft-2020-12", typeMode, ignoreActions: ["check"] })
  return withoutItemCodes(rest)
}

function spelledOut<T>(held: T): T {
  if (Array.isArray(held)) return held.map(spelledOut) as T
  if (!isSchema(held)) return held
  const { "x-extends": _, ...rest } = held as Record<string, unknown>
  const shape = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, spelledOut(value)]))
  const about = shape["x-about"]
  return (typeof about === "string" && shape.description === undefined ? { description: about, ...shape } : shape) as T
}

/** A bad item raises its list's code (codeOf). The code of an argument without one of its own is left out. */
function withoutItemCodes(schema: JsonSchema, inList = false): JsonSchema {
  const entries = Object.entries(schema).flatMap(([name, held]) => {
    if (name === "x-code" && (inList || held === "invalid_arguments")) return []
    if (typeof held !== "object" || held === null) return [[name, held]]
    if (Array.isArray(held)) return [[name, held.map((one) => (isSchema(one) ? withoutItemCodes(one, inList) : one))]]
    return [[name, withoutItemCodes(held as JsonSchema, inList || name === "items")]]
  })
  return Object.fromEntries(entries)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
