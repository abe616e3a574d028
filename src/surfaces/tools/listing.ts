import { creditsText, type Effect, type Operation } from "../../operation.ts"
import { jsonSchema } from "../../vocabulary/schema.ts"

/** A tool as tools/list shows it: everything follows from the operation's declaration. */
export function toolOf(operation: Operation): object {
  const { id, effect, input, output, toolDefaults = {} } = operation
  const title = titleOf(id)
  return {
    name: id,
    title,
    description: descriptionOf(operation),
    inputSchema: withDefaults(plain(jsonSchema(input, "input")), toolDefaults),
    // an answer of several shapes has none of its own at the root, where clients want an object
    outputSchema: { type: "object", ...plain(jsonSchema(output)) },
    annotations: { title, ...HINTS[effect] },
  }
}

interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

const HINTS: Record<Effect, Hints> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  // it may read at the store what the write would change
  previews: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
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
  const { summary, description } = operation
  return [summary, description, termsOf(operation)].filter(Boolean).join("\n\n")
}

/** Price, scope and plan in one line. */
function termsOf({ price, scope, terms, plan = "free", hive }: Operation): string {
  const cost = creditsText(price, "nothing")
  if (terms) return `Costs ${cost}; scope and plan are those of the action.`
  const needs = [
    scope ? `the scope ${scope}` : "no scope",
    ...(plan === "free" ? [] : [`the ${capitalised(plan)} plan or above`]),
    ...(hive ? [HIVE[hive]] : []),
  ]
  return `Costs ${cost}; needs ${needs.join(" and ")}${needs.length === 1 ? ", on every plan" : ""}.`
}

const HIVE = { pack: "Explorer or a credit pack", explorer: "Explorer" }

type Json = Record<string, unknown>

/**
 * A schema that means the same to clients of draft 7 and of 2020-12, without words that only the HTTP document uses: some
 * clients refuse those.
 */
function plain(schema: object): Json {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name.startsWith("x-") ? undefined : closedByLength(value))),
  )
}

/** Draft 7 ignores prefixItems, and `items: false` then forbids every item: a tuple's end is said by its length. */
function closedByLength(value: unknown): unknown {
  const { prefixItems, items, ...rest } = (value ?? {}) as Json
  return Array.isArray(prefixItems) && items === false ? { ...rest, prefixItems, maxItems: prefixItems.length } : value
}

function withDefaults(schema: Json, defaults: Json): Json {
  const properties = { ...(schema.properties as Record<string, Json>) }
  for (const [name, value] of Object.entries(defaults)) properties[name] = { ...properties[name], default: value }
  return { ...schema, properties }
}
