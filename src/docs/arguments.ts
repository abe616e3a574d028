import type { FaultCode } from "../lib/faults.ts"
import { codeOf, jsonSchema, type ObjectSchema, type Schema } from "../lib/schema.ts"
import { type Html, html } from "../ui/html.ts"
import { codeLink } from "./fault-link.ts"
import { type Field, typeText } from "./field-type.ts"

/** Lists the arguments. `inPath` names those that are part of the path. */
export function argumentList(schema: ObjectSchema, inPath: readonly string[] = []): Html {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as Field
  const names = Object.keys(properties)
  if (names.length === 0) return html`<p class="quiet">No parameters.</p>`
  const lines = names.map((name) => {
    const need = inPath.includes(name) ? "in the path" : required.includes(name) ? "required" : undefined
    return argumentLine(name, properties[name] as Field, need, codeOf(schema.entries[name] as Schema))
  })
  return html`<ul class="arguments">
${lines}</ul>`
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
