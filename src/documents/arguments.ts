import type { FaultCode } from "../faults.ts"
import { type Html, html } from "../pages/html.ts"
import { codeOf, jsonSchema, type ObjectSchema, type Schema } from "../vocabulary/schema.ts"
import { codeLink } from "./fault-link.ts"

/**
 * The arguments that a schema takes, one a line: name, type, whether it is needed, default, bounds, the code of a bad
 * value, and meaning. `inPath` names those that stand in the path.
 */
export function argumentList(schema: ObjectSchema, inPath: readonly string[] = []): Html {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as Field
  const names = Object.keys(properties)
  if (names.length === 0) return html`<p class="quiet">No parameters.</p>`
  const lines = names.map((name) => {
    const need = inPath.includes(name) ? "in the path" : required.includes(name) ? "required" : undefined
    return argumentLine(name, properties[name] as Field, need, codeOf(schema.entries[name] as Schema))
  })
  return html`<ul>
${lines}</ul>`
}

/** The words of JSON Schema that fields of inputs are made of. */
interface Field {
  type?: string
  enum?: unknown[]
  anyOf?: Field[]
  items?: Field
  properties?: Record<string, Field>
  required?: string[]
  default?: unknown
  description?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  format?: string
}

function argumentLine(name: string, field: Field, need: string | undefined, code: FaultCode): Html {
  const { default: given, description, items } = field
  const facts = [
    typeText(field),
    need ?? (given === undefined ? "optional" : `default ${JSON.stringify(given)}`),
    ...bounds(field),
    ...(items ? bounds(items).map((bound) => `each ${bound}`) : []),
  ]
  const meaning = [description, items?.description && `Each: ${items.description}`].filter(Boolean).join(" ")
  return html`<li><code>${name}</code> <span class="quiet">${facts.join(", ")}</span> · bad value: ${codeLink(code)}${meaning && html`<br>\n${meaning}`}</li>
`
}

function typeText({ type, enum: values, anyOf, items, format }: Field): string {
  if (values) return `one of ${values.join(", ")}`
  if (format === "date") return "date"
  if (anyOf) return [...new Set(anyOf.map(typeText))].join(" or ")
  if (type === "array") return items?.type ? `list of ${items.type}s` : "list"
  return type ?? "any value"
}

function bounds({ minLength, maxLength, minItems, maxItems, minimum, maximum }: Field): string[] {
  return [
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " entries"),
    range(minimum, maximum, ""),
  ].filter((bound) => bound !== "")
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return ""
  if (max === undefined) return `at least ${min}${unit}`
  if (min === undefined) return `up to ${max}${unit}`
  return min === max ? `${min}${unit}` : `${min} to ${max}${unit}`
}
