import type { FaultCode } from "../lib/faults.ts"
import { codeOf, jsonSchema, type ObjectSchema, type Schema } from "../lib/schema.ts"
import { type Html, html } from "../ui/html.ts"
import { codeLink } from "./fault-link.ts"
import { type Field, typeText } from "./field-type.ts"
import { parameterAnchor } from "./groups.ts"

interface ArgumentOptions {
  /** The operation or write. Its name is the beginning of the anchors. */
  id: string
  /** Names of the arguments that are part of the path. */
  inPath?: readonly string[]
  /** Sample values. Each required argument is shown with its value. */
  examples?: Readonly<Record<string, unknown>>
}

/** Lists the arguments, each with an anchor. */
export function argumentList(schema: ObjectSchema, { id, inPath = [], examples = {} }: ArgumentOptions): Html {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as Field
  const names = Object.keys(properties)
  if (names.length === 0) return html`<p class="quiet">No parameters.</p>`
  const lines = names.map((name) => {
    const need = inPath.includes(name) ? "in the path" : required.includes(name) ? "required" : undefined
    const example = need === undefined ? undefined : examples[name]
    const code = codeOf(schema.entries[name] as Schema)
    return argumentLine({
      name,
      anchor: parameterAnchor(id, name),
      field: properties[name] as Field,
      need,
      example,
      code,
    })
  })
  return html`<ul class="arguments">
${lines}</ul>`
}

interface Argument {
  name: string
  anchor: string
  field: Field
  /** Undefined if the argument is optional. */
  need: string | undefined
  example: unknown
  /** The error code of an invalid value. */
  code: FaultCode
}

function argumentLine({ name, anchor, field, need, example, code }: Argument): Html {
  const { default: given, description, items } = field
  const facts = [
    typeText(field),
    need ?? (given === undefined ? "optional" : `default ${JSON.stringify(given)}`),
    ...bounds(field),
    ...(items ? bounds(items).map((bound) => `each ${bound}`) : []),
  ]
  const meaning = [description, items?.description && `Each: ${items.description}`].filter(Boolean).join(" ")
  const sample = example !== undefined && html` · example: <code>${exampleText(example)}</code>`
  return html`<li id="${anchor}"><a href="#${anchor}"><code>${name}</code></a>
<span class="quiet">${facts.join(", ")}</span> · if invalid: ${codeLink(code)}${sample}
${meaning && html`<br>${meaning}`}</li>
`
}

function exampleText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
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
