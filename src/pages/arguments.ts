import { jsonSchema, type ObjectSchema } from "../schema.ts"
import { type Html, html } from "./html.ts"

/** The arguments that a schema takes, one a line: name, type, whether it is needed, default, bounds and meaning. */
export function argumentList(schema: ObjectSchema): Html {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as Field
  return html`<ul>
${Object.entries(properties).map(([name, field]) => argumentLine(name, field, required.includes(name)))}</ul>`
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
}

function argumentLine(name: string, field: Field, required: boolean): Html {
  const { default: given, description, items } = field
  const facts = [
    typeText(field),
    required ? "required" : given === undefined ? "optional" : `default ${JSON.stringify(given)}`,
    ...bounds(field),
    ...(items ? bounds(items).map((bound) => `each ${bound}`) : []),
  ]
  const meaning = [description, items?.description && `Each: ${items.description}`].filter(Boolean).join(" ")
  return html`<li><code>${name}</code> <span class="quiet">${facts.join(", ")}</span>${meaning && html`<br>\n${meaning}`}</li>
`
}

function typeText({ type, enum: values, anyOf, items }: Field): string {
  if (values) return `one of ${values.join(", ")}`
  if (anyOf) return anyOf.map(typeText).join(" or ")
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
