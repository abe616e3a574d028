import type { JsonSchema } from "@valibot/to-json-schema"
import { capitalised, type Schema, shapedSchema } from "../../lib/schema.ts"

type Shape = Record<string, unknown>

/** components.schemas: collects named shapes and replaces them by references. */
export class Shapes {
  readonly schemas: Record<string, Shape> = {}
  /** The shapes with all their fields. They are recorded before shapes are expressed as extensions of others. */
  private readonly whole = new Map<string, Shape>()

  /** Adds an answer's schema with its named shapes replaced by references. `besides` has additional keywords. */
  add(name: string, schema: Schema, extra: Shape = {}): void {
    this.put(name, { ...(this.taken(open(shapedSchema(schema))) as Shape), ...extra })
  }

  /** Returns the value with every named shape replaced by a reference. Keywords next to a shape are kept. */
  taken(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.taken(item))
    if (typeof value !== "object" || value === null) return value
    const {
      title,
      description,
      "x-about": about,
      "x-extends": base,
      ...shape
    } = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.taken(part)])) as Shape
    const overrides = { ...(description !== undefined && description !== about && { description }) }
    const reference = base as { $ref: string } | undefined
    if (typeof title !== "string") {
      const merged = { ...overrides, ...this.described(orNull(shape), reference), ...overrides }
      return title === undefined ? merged : { title, ...merged }
    }
    this.put(title, { ...(about !== undefined && { description: about }), ...shape }, reference)
    return { $ref: referenceTo(title), ...overrides }
  }

  private put(name: string, shape: Shape, base?: { $ref: string }): void {
    const existing = this.whole.get(name)
    if (existing && JSON.stringify(existing) !== JSON.stringify(shape)) throw new Error(`two shapes are named ${name}`)
    this.whole.set(name, shape)
    this.schemas[name] = this.described(shape, base)
  }

  private described(shape: Shape, base: { $ref: string } | undefined): Shape {
    if (base) return withoutShared(shape, base, this.whole.get(nameIn(base)) as Shape)
    return discriminated(shape, (name) => this.whole.get(name))
  }
}

export const referenceTo = (name: string) => `#/components/schemas/${name}`

function nameIn({ $ref }: { $ref?: string }): string {
  return $ref?.split("/").at(-1) ?? ""
}

/** Removes the prohibition of additional fields, because answers may gain fields at any time, as the manual states. */
function open<T>(schema: T): T {
  if (typeof schema !== "object" || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(open) as T
  const entries = Object.entries(schema).filter(([name, part]) => name !== "additionalProperties" || part !== false)
  return Object.fromEntries(entries.map(([name, part]) => [name, open(part)])) as T
}

/** Shortens the schema of a nullable plain value. */
function orNull(shape: Shape): Shape {
  const { anyOf, ...rest } = shape
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== "null") return shape
  const [part] = anyOf as [Shape]
  const short = typeof part.type === "string" && part.type !== "object" && part.enum === undefined
  return short ? { ...rest, ...part, type: [part.type, "null"] } : shape
}

/** Adds the discriminator to alternatives of named shapes. */
function discriminated(shape: Shape, shapeOf: (name: string) => Shape | undefined): Shape {
  const { oneOf } = shape
  if (!Array.isArray(oneOf) || shape.discriminator) return shape
  const named = oneOf.map((item: { $ref?: string }) => shapeOf(nameIn(item)) as JsonSchema | undefined)
  const [first] = named
  const by = Object.entries(first?.properties ?? {}).find(([, field]) => (field as JsonSchema).const !== undefined)?.[0]
  if (by === undefined) return shape
  const mapping: [unknown, unknown][] = []
  for (const [i, each] of named.entries()) {
    if (!each) return shape
    mapping.push([(each.properties?.[by] as JsonSchema | undefined)?.const, oneOf[i].$ref])
  }
  return { ...shape, discriminator: { propertyName: by, mapping: Object.fromEntries(mapping) } }
}

/**
 * Splits a body whose field `by` decides the other fields (x-by) into one shape per value. Tools need a single object
 * at the root and do not use this.
 */
export function alternativesOf(body: JsonSchema, suffix: string): JsonSchema {
  const entries = Object.entries(body.properties ?? {}) as [string, JsonSchema & { "x-by"?: string }][]
  const decided = entries.find(([, field]) => field["x-by"] !== undefined)
  if (!decided) return body
  const [name, { "x-by": by, anyOf = [] }] = decided
  const oneOf = (anyOf as JsonSchema[]).map((alternative) => {
    const { title, description: described, ...args } = alternative
    const needed = ((args.required as string[] | undefined) ?? []).length > 0
    return {
      title: `${capitalised(title as string)}${suffix}`,
      ...body,
      ...(described !== undefined && { description: described }),
      properties: { ...body.properties, [by!]: { const: title }, [name]: args },
      required: [by!, ...(needed ? [name] : [])],
    }
  })
  return { oneOf } as JsonSchema
}

interface ObjectShape {
  properties?: Record<string, unknown>
  required?: string[]
}

/** Expresses an object's shape as its base plus the differing and added properties. */
function withoutShared(shape: Shape, base: { $ref: string }, whole: Shape): Shape {
  const { properties = {}, required = [], ...rest } = shape as Shape & ObjectShape
  const { properties: shared = {}, required: needed = [] } = whole as ObjectShape
  const missing = Object.keys(shared).find((name) => !(name in properties))
  if (missing !== undefined) throw new Error(`an extension of ${base.$ref} lacks ${missing}`)
  const same = (name: string) => JSON.stringify(properties[name]) === JSON.stringify(shared[name])
  const differing = Object.entries(properties).filter(([name]) => !same(name))
  const added = required.filter((name) => !needed.includes(name))
  return {
    allOf: [base],
    ...rest,
    properties: Object.fromEntries(differing),
    ...(added.length > 0 && { required: added }),
  }
}
