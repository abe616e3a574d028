import { jsonSchema, type Schema } from "../lib/schema.ts"
import { type Html, html } from "../ui/html.ts"
import { type Field, typeText } from "./field-type.ts"

/** A collapsed table with every field of an answer: path, type and description. */
export function answerFields(output: Schema): Html {
  const rows = rowsOf(jsonSchema(output) as Field, "")
  if (rows.length === 0) return html``
  return html`<details class="fields"><summary>Fields of the answer</summary>
<table tabindex="0"><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead><tbody>
${rows.map(({ path, type, meaning }) => html`<tr><td><code>${path}</code></td><td>${type}</td><td>${meaning}</td></tr>\n`)}</tbody></table></details>
`
}

interface FieldRow {
  path: string
  type: string
  meaning: string | undefined
}

function rowsOf(field: Field, path: string): FieldRow[] {
  const rows = shapesOf(field).flatMap(({ properties = {}, items, additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, held]) => {
      const at = path === "" ? name : `${path}.${name}`
      return [{ path: at, type: typeText(held), meaning: meaningOf(held) }, ...rowsOf(held, at)]
    }),
    ...(items ? rowsOf(items, `${path}[]`) : []),
    ...(typeof additionalProperties === "object" ? rowsOf(additionalProperties, `${path}.*`) : []),
  ])
  // alternative shapes share most of their fields
  return [...new Map(rows.toReversed().map((row) => [row.path, row])).values()].toReversed()
}

/** Returns the description of the field and of its named shapes. */
function meaningOf({ description, anyOf = [] }: Field): string | undefined {
  const meanings = anyOf.flatMap((shape) => (shape.title === undefined ? [] : [shape.description]))
  return [description, ...meanings].filter((text) => text !== undefined).join(" ") || undefined
}

/** Returns the field and each of its alternative shapes. */
function shapesOf(field: Field): Field[] {
  return [field, ...(field.anyOf ?? []).flatMap(shapesOf), ...(field.oneOf ?? []).flatMap(shapesOf)]
}
