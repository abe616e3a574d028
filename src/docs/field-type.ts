/** The keywords of JSON Schema that inputs and answers use. */
export interface Field {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Field[]
  oneOf?: Field[]
  items?: Field
  properties?: Record<string, Field>
  additionalProperties?: Field | boolean
  required?: string[]
  default?: unknown
  title?: string
  description?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  format?: string
}

/** Returns the type in words: "list of strings", "one of us, gb", "date or null". */
export function typeText({ type, enum: values, const: only, anyOf, oneOf, items, format }: Field): string {
  if (values) return `one of ${values.join(", ")}`
  if (only !== undefined) return String(only)
  if (format === "date") return "date"
  if (format === "date-time") return "time"
  const alternatives = anyOf ?? oneOf
  if (alternatives) return [...new Set(alternatives.map(typeText))].join(" or ")
  if (type === "array") return items?.type ? `list of ${items.type}s` : "list"
  return type ?? "any value"
}
