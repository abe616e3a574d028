import * as v from "valibot"
import { described, itemSchema, type ObjectSchema, type Schema, unwrap } from "./schema.ts"

/**
 * The parts of an answer that `fields` may leave out: fields of the rows in these lists, or whole lists and objects.
 */
export type Narrow = { rows: readonly string[] } | "parts"

/** Returns the input schema of the parameter `fields`. */
export function fieldsInput(output: Schema, narrow: Narrow): Schema {
  const names = narrowNames(output, narrow)
  const of = narrow === "parts" ? "Lists and objects of the answer" : `Fields of ${narrow.rows.join(" and ")}`
  const schema = v.pipe(v.array(v.picklist(names)), v.minLength(1), v.maxLength(names.length))
  return described(v.optional(schema), `${of} to keep.`)
}

/** Returns the identifying field of each list's rows: the first of its schema. `fields` never leaves it out. */
export function rowNames(output: Schema, rows: readonly string[]): Record<string, string> {
  const { entries } = output as ObjectSchema
  return Object.fromEntries(
    rows.map((list) => [list, Object.keys(rowOf(entries[list] as Schema).entries)[0] as string]),
  )
}

function narrowNames(output: Schema, narrow: Narrow): string[] {
  const { entries } = output as ObjectSchema
  if (narrow === "parts") return Object.keys(entries).filter((name) => isPart(entries[name] as Schema))
  return [...new Set(narrow.rows.flatMap((list) => Object.keys(rowOf(entries[list] as Schema).entries)))]
}

const isPart = (entry: Schema) => /array|object|record/.test(unwrap(entry).type)

function rowOf(list: Schema): ObjectSchema {
  return itemSchema(list) as ObjectSchema
}

/** Returns the schema of an answer from which `fields` may have left out any of these parts. */
export function narrowedSchema(output: Schema, narrow: Narrow): Schema {
  const { entries } = output as ObjectSchema
  const looser = Object.entries(entries).map(([name, entry]) => [name, looserEntry(name, entry as Schema, narrow)])
  return v.strictObject(Object.fromEntries(looser))
}

function looserEntry(name: string, entry: Schema, narrow: Narrow): Schema {
  if (narrow === "parts") return isPart(entry) && entry.type !== "optional" ? v.optional(entry) : entry
  if (!narrow.rows.includes(name)) return entry
  const fields = Object.entries(rowOf(entry).entries).map(([name, field], at) => [
    name,
    at === 0 ? field : v.optional(field as Schema),
  ])
  const list = v.array(v.strictObject(Object.fromEntries(fields)))
  const description = v.getDescription(entry) ?? ""
  return described(entry.type === "nullable" ? v.nullable(list) : list, description)
}

export function narrowedTo(fields: readonly string[], narrow: Narrow, output: Schema, answer: unknown): unknown {
  const names = new Set(fields)
  const whole = Object.entries(answer as object)
  if (narrow === "parts") {
    const parts = new Set(narrowNames(output, narrow))
    return Object.fromEntries(whole.filter(([name]) => names.has(name) || !parts.has(name)))
  }
  const named = rowNames(output, narrow.rows)
  return Object.fromEntries(
    whole.map(([list, rows]) => {
      const name = named[list]
      return [list, name === undefined ? rows : rowsWith(new Set([name, ...names]), rows)]
    }),
  )
}

function rowsWith(columns: ReadonlySet<string>, rows: readonly object[] | null): object[] | null {
  const narrowed = (row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => columns.has(name)))
  return rows === null ? null : rows.map(narrowed)
}
