import { hash } from "node:crypto"

/** Returns a hash of the inputs of a text. The order of object keys does not affect the hash. */
export function digestOf(inputs: unknown): string {
  return hash("sha256", JSON.stringify(inputs, sortedKeys))
}

function sortedKeys(_: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value) || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
