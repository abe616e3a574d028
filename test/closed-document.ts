type Json = Record<string, unknown>

/**
 * Returns the document with additional fields forbidden. Answers may gain fields, so the document allows them, but in a
 * test an undeclared field is an error. A shape that others extend also has an open form, which they use.
 */
export function closed<D extends { components: { schemas: Record<string, object> } }>(document: D): D {
  const schemas = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
    [name, closedShape(schema as Json)],
    [`Open.${name}`, opened(schema as Json)],
  ])
  const rest = closedIn({ ...document, components: { ...document.components, schemas: {} } })
  return { ...rest, components: { ...rest.components, schemas: Object.fromEntries(schemas) } } as D
}

function closedShape(schema: Json): Json {
  const shape = opened(schema)
  if (Array.isArray(schema.allOf)) return { ...shape, unevaluatedProperties: false }
  return schema.properties && schema.additionalProperties === undefined
    ? { ...shape, additionalProperties: false }
    : shape
}

/** Opens the schema itself and closes its parts. */
function opened({ allOf, ...schema }: Json): Json {
  const closedFields = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closedIn(value)]))
  return Array.isArray(allOf) ? { allOf: allOf.map(part), ...closedFields } : closedFields
}

function part(schema: Json): Json {
  return typeof schema.$ref === "string"
    ? { $ref: schema.$ref.replace("#/components/schemas/", "#/components/schemas/Open.") }
    : opened(schema)
}

function closedIn<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(closedIn) as T
  const isShape = "allOf" in value || ("properties" in value && "type" in value)
  if (isShape) return closedShape(value as Json) as T
  return Object.fromEntries(Object.entries(value).map(([name, nested]) => [name, closedIn(nested)])) as T
}
