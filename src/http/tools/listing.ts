import * as v from "valibot"
import { answerSchema, creditsText, type Effect, type Operation } from "../../core/operation.ts"
import { deprecationText, jsonSchema, type Schema } from "../../lib/schema.ts"

/**
 * Describes an operation as a tool. The output schema is four fifths of a tool and a model reads all of it, so it is
 * included only on request.
 */
export function toolOf(operation: Operation, withOutput = false): object {
  const { id, effect, input, toolDefaults = {}, connector } = operation
  const schema = renamed(unlisted(brief(plain(jsonSchema(input, "input"))), operation), connector?.names ?? {})
  const title = titleOf(id)
  return {
    name: id,
    title,
    description: descriptionOf(operation),
    inputSchema: withDefaults(schema, toolDefaults),
    // an answer with alternatives has no type at the root, but clients require an object
    ...(withOutput && { outputSchema: { type: "object", ...plain(jsonSchema(answerSchema(operation))) } }),
    annotations: HINTS[effect],
  }
}

interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  /** Absent for operations that only read. */
  idempotentHint?: boolean
  openWorldHint: boolean
}

const HINTS: Record<Effect, Hints> = {
  reads: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  // a preview may read the current state from the store
  previews: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
  measures: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  spends: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  writes: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
}

/** Returns the title: list_ai_mentions becomes "List AI mentions". */
function titleOf(id: string): string {
  return capitalised(id.replaceAll("_", " ").replace(/\bai\b/g, "AI"))
}

function capitalised(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}

function descriptionOf(operation: Operation): string {
  const { summary, description, deprecated } = operation
  const parts = [summary, description, defaultsOf(operation), deprecated && deprecationText(deprecated)]
  return [...parts, termsOf(operation)].filter(Boolean).join("\n\n")
}

/** Describes the arguments whose default for tools differs from that for REST. */
function defaultsOf({ toolDefaults, input }: Operation): string | undefined {
  if (!toolDefaults) return undefined
  const texts = Object.entries(toolDefaults).map(([name, value]) => {
    const elsewhere = v.getDefault(input.entries[name] as Schema)
    return `the default of ${name} is ${value} (REST: ${elsewhere ?? "none"})`
  })
  return `In this tool ${texts.join("; ")}.`
}

function termsOf({ price, scope, terms, plan = "free", hive }: Operation): string {
  const cost = creditsText(price, "nothing")
  if (terms) return `Costs ${cost}; scope and plan are those of the action.`
  const needs = [
    scope ? `the scope ${scope}` : "no scope",
    ...(plan === "free" ? [] : [`the ${capitalised(plan)} plan or above`]),
    ...(hive ? [HIVE[hive]] : []),
  ]
  return `Costs ${cost}; needs ${needs.join(" and ")}.`
}

const HIVE = { pack: "Explorer or a credit pack", explorer: "Explorer" }

type Json = Record<string, unknown>

/** Makes a schema valid for clients of draft 7 and 2020-12, without keywords of OpenAPI that some clients refuse. */
function plain(schema: object): Json {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name.startsWith("x-") ? undefined : closedByLength(value))),
  )
}

/**
 * Removes limits of texts and lists, and empty `required`. A model does not count characters, and a refusal names the
 * limit.
 */
function brief(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema, (name, value) => (isSpared(name, value) ? undefined : value)))
}

function isSpared(name: string, value: unknown): boolean {
  if (name === "required" && Array.isArray(value)) return value.length === 0
  return BOUNDS.has(name) && isBound(value)
}

const BOUNDS = new Set(["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern"])

/** A property can have the same name as a keyword. */
function isBound(value: unknown): boolean {
  return typeof value !== "object"
}

/** Removes the list of names from `fields`, which costs 600 tokens. A wrong name gets an error that lists them. */
function unlisted(schema: Json, { narrow }: Operation): Json {
  if (!narrow) return schema
  const { fields, ...properties } = schema.properties as Record<string, Json>
  return { ...schema, properties: { ...properties, fields: { ...fields, items: { type: "string" } } } }
}

/** Limits a tuple by its length. Draft 7 ignores prefixItems, and `items: false` would then forbid every item. */
function closedByLength(value: unknown): unknown {
  const { prefixItems, items, ...rest } = (value ?? {}) as Json
  return Array.isArray(prefixItems) && items === false ? { ...rest, prefixItems, maxItems: prefixItems.length } : value
}

/** Renames arguments to the names that a connector requires. The original names are accepted too. */
function renamed(schema: Json, names: Readonly<Record<string, string>>): Json {
  const byOwn = new Map(Object.entries(names).map(([name, ownName]) => [ownName, name]))
  if (byOwn.size === 0) return schema
  const nameOf = (ownName: string) => byOwn.get(ownName) ?? ownName
  const properties = Object.entries(schema.properties as Record<string, Json>).map(([ownName, value]) => [
    nameOf(ownName),
    value,
  ])
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: (schema.required as string[] | undefined)?.map(nameOf),
  }
}

function withDefaults(schema: Json, defaults: Json): Json {
  const properties = { ...(schema.properties as Record<string, Json>) }
  for (const [name, value] of Object.entries(defaults)) properties[name] = { ...properties[name], default: value }
  return { ...schema, properties }
}
