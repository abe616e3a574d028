import type { Operation } from "../core/operation.ts"
import { Fault } from "../lib/faults.ts"
import { codeOf, type Schema, unwrap } from "../lib/schema.ts"

/**
 * Converts the query to the types of the input's schema. Unparsable and empty values stay text, for the schema to
 * refuse. Throws the parameter's own code for a repeated scalar and for malformed percent-encoding.
 */
export function queryInput(
  operation: Operation,
  query: string,
  params: Record<string, string>,
): Record<string, unknown> {
  const input: Record<string, unknown> = Object.create(null)
  if (query === "") return input
  const seen = new Set<string>()
  for (const part of query.split("&")) {
    if (part === "") continue
    const equals = part.indexOf("=")
    const name = decode(equals < 0 ? part : part.slice(0, equals), undefined, "query")
    const entry = field(operation, name)
    if (entry && Object.hasOwn(params, name))
      throw new Fault("invalid_arguments", {
        field: name,
        detail: `${name} is part of the path. Remove it from the query or body.`,
      })
    // the input check reports an unknown name together with other errors
    if (!entry) {
      input[name] = ""
      continue
    }
    const text = decode(equals < 0 ? "" : part.slice(equals + 1), entry, name)
    if (seen.has(name) && unwrap(entry).type !== "array")
      throw new Fault(codeOf(entry), { field: name, detail: `${name} was sent more than once. Send it once.` })
    seen.add(name)
    const value = coerce(entry, text)
    input[name] = Array.isArray(value) ? [...((input[name] as unknown[] | undefined) ?? []), ...value] : value
  }
  return input
}

function field(operation: Operation, name: string): Schema | undefined {
  return Object.hasOwn(operation.input.entries, name) ? (operation.input.entries[name] as Schema) : undefined
}

function decode(text: string, entry: Schema | undefined, name: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text
  if (!spaced.includes("%")) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    throw new Fault(codeOf(entry), { field: name, detail: "Its percent-encoding is malformed. Encode it as UTF-8." })
  }
}

function coerce(entry: Schema, text: string): unknown {
  const schema = unwrap(entry) as Schema & { item?: Schema }
  if (schema.type === "array") {
    const item = schema.item as Schema
    return text.split(",").map((part) => coerce(item, part.trim()))
  }
  if (schema.type === "number") return /^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : text
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text
  return text
}
