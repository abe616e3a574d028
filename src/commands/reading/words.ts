import type { Operation } from "../../core/operation.ts"
import { queryInput } from "../../http/query.ts"
import { itemSchema, type Schema, unwrap } from "../../lib/schema.ts"
import { WrongUse } from "../cli/command.ts"

/** Parses "name=value" words like a query: lists with commas, objects as JSON. Throws WrongUse. */
export function inputOf(operation: Pick<Operation, "input">, words: readonly string[]): Record<string, unknown> {
  const pairs = words.map((word) => {
    const [name, value] = word.split(/=(.*)/s)
    if (!name || value === undefined)
      throw new WrongUse(`${JSON.stringify(word.slice(0, 60))} must be NAME=VALUE, such as country=us`)
    return [name, value] as const
  })
  const given = pairs.filter(([name]) => !isObject(operation, name))
  const query = given.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")
  const objects = pairs
    .filter(([name]) => isObject(operation, name))
    .map(([name, value]) => [name, parsed(name, value)])
  return { ...queryInput(operation as Operation, query, {}), ...Object.fromEntries(objects) }
}

function isObject({ input }: Pick<Operation, "input">, name: string): boolean {
  if (!Object.hasOwn(input.entries, name)) return false
  const entry = input.entries[name] as Schema
  return /object|record|variant/.test((itemSchema(entry) ?? unwrap(entry)).type)
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongUse(`${name} must be JSON, such as ${name}='{"…": "…"}'`)
  }
}
