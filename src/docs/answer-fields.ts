import { jsonSchema, type Schema } from "../lib/schema.ts"
import { type Html, html } from "../ui/html.ts"
import { type Field, typeText } from "./field-type.ts"
import { fieldAnchor } from "./groups.ts"

/** A field of an answer: its path, such as "alerts[].id", its type and its description. */
interface FieldRow {
  path: string
  type: string
  meaning: string | undefined
}

/** A collapsed table with all fields of an operation's answer, each with an anchor. */
export function answerFields(id: string, output: Schema): Html {
  const rows = fieldRows(output)
  if (rows.length === 0) return html``
  return html`<details class="fields"><summary>Fields of the answer</summary>
<table tabindex="0"><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead><tbody>
${rows.map((row) => fieldLine(id, row))}</tbody></table></details>
`
}

function fieldLine(id: string, { path, type, meaning }: FieldRow): Html {
  const anchor = fieldAnchor(id, path)
  const name = html`<a href="#${anchor}"><code>${path}</code></a>`
  return html`<tr id="${anchor}"><td>${name}</td><td>${type}</td><td>${meaning}</td></tr>\n`
}

/** Returns every field of an answer. */
export function fieldRows(output: Schema): FieldRow[] {
  return rowsOf(jsonSchema(output) as Field, "")
}

function rowsOf(field: Field, path: string): FieldRow[] {
  const rows = shapesOf(field).flatMap(({ properties = {}, items, additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, property]) => {
      const at = path === "" ? name : `${path}.${name}`
      return [{ path: at, type: typeText(property), meaning: meaningOf(property) }, ...rowsOf(property, at)]
    }),
    ...(items ? rowsOf(items, `${path}[]`) : []),
    ...(typeof additionalProperties === "object" ? rowsOf(additionalProperties, `${path}.*`) : []),
  ])
  // the alternative shapes of an answer share most of their fields
  return [...new Map(rows.toReversed().map((row) => [row.path, row])).values()].toReversed()
}

/** Returns the description of the field, together with those of its named shapes. */
function meaningOf({ description, anyOf = [] }: Field): string | undefined {
  const meanings = anyOf.flatMap((shape) => (shape.title === undefined ? [] : [shape.description]))
  return [description, ...meanings].filter((text) => text !== undefined).join(" ") || undefined
}

/** Returns the field and each of its alternative shapes. */
function shapesOf(field: Field): Field[] {
  return [field, ...(field.anyOf ?? []).flatMap(shapesOf), ...(field.oneOf ?? []).flatMap(shapesOf)]
}
