import * as v from "valibot"
import { answerSchema, creditsText, type Effect, type Operation } from "../../core/operation.ts"
import { deprecationText, jsonSchema, type Schema } from "../../lib/schema.ts"

/** The answer's schema is four fifths of a tool, and a model reads it all: it is shown where it is asked for. */
export function toolOf(operation: Operation, withOutput = false): object {
  const { id, effect, input, toolDefaults = {}, connector } = operation
  const schema = renamed(unlisted(brief(plain(jsonSchema(input, "input"))), operation), connector?.names ?? {})
  const title = titleOf(id)
  return {
    name: id,
    title,
    description: descriptionOf(operation),
    inputSchema: withDefaults(schema, toolDefaults),
    // an answer of several shapes has none of its own at the root, where clients want an object
    ...(withOutput && { outputSchema: { type: "object", ...plain(jsonSchema(answerSchema(operation))) } }),
    annotations: HINTS[effect],
  }
}

interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  /** Of what only reads it says nothing. */
  idempotentHint?: boolean
  openWorldHint: boolean
}

const HINTS: Record<Effect, Hints> = {
  reads: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  // it may read at the store what the write would change
  previews: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
  measures: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  spends: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  writes: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
}

/** list_ai_mentions → "List AI mentions" */
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

/** Names the arguments whose default differs from that of the same endpoint over REST. */
function defaultsOf({ toolDefaults, input }: Operation): string | undefined {
  if (!toolDefaults) return undefined
  const texts = Object.entries(toolDefaults).map(([name, value]) => {
    const elsewhere = v.getDefault(input.entries[name] as Schema)
    return `${name} is ${value} unless given (over REST: ${elsewhere ?? "none"})`
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

/** The same to clients of draft 7 and of 2020-12, without words of the HTTP document that some clients refuse. */
function plain(schema: object): Json {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name.startsWith("x-") ? undefined : closedByLength(value))),
  )
}

/**
 * Without the bounds of texts and lists: a model does not count characters, and what is refused says them. Nor is it said
 * that nothing is required.
 */
function brief(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema, (name, value) => (isSpared(name, value) ? undefined : value)))
}

function isSpared(name: string, value: unknown): boolean {
  if (name === "required" && Array.isArray(value)) return value.length === 0
  return BOUNDS.has(name) && isBound(value)
}

const BOUNDS = new Set(["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern"])

/** A property may have such a name too. */
function isBound(value: unknown): boolean {
  return typeof value !== "object"
}

/** The names that `fields` takes are those of the answer, and a wrong one is told them: here they would weigh 600 tokens. */
function unlisted(schema: Json, { narrow }: Operation): Json {
  if (!narrow) return schema
  const { fields, ...properties } = schema.properties as Record<string, Json>
  return { ...schema, properties: { ...properties, fields: { ...fields, items: { type: "string" } } } }
}

/** Draft 7 ignores prefixItems, and `items: false` then forbids every item: a tuple's end is said by its length. */
function closedByLength(value: unknown): unknown {
  const { prefixItems, items, ...rest } = (value ?? {}) as Json
  return Array.isArray(prefixItems) && items === false ? { ...rest, prefixItems, maxItems: prefixItems.length } : value
}

/** With the names that a connector gives to arguments; the inputs' own names are taken as well. */
function renamed(schema: Json, names: Readonly<Record<string, string>>): Json {
  const byOwn = new Map(Object.entries(names).map(([name, own]) => [own, name]))
  if (byOwn.size === 0) return schema
  const nameOf = (own: string) => byOwn.get(own) ?? own
  const properties = Object.entries(schema.properties as Record<string, Json>).map(([own, held]) => [nameOf(own), held])
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
