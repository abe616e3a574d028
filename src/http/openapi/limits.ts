type Shape = Record<string, unknown>

/** Adds the limits that follow from an argument's schema, for generators and gateways. */
export function limited<T>(schema: T): T {
  if (typeof schema !== "object" || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(limited) as T
  const { "x-limits": limits, ...held } = schema as Shape
  const shape = Object.fromEntries(Object.entries(held).map(([name, value]) => [name, limited(value)])) as Shape
  return { ...shape, ...limitsOf(shape), ...(limits as Shape | undefined) } as T
}

function limitsOf({ type, format, minimum, maximum }: Shape): Shape {
  if (type === "integer" && format === undefined && within(minimum) && within(maximum)) return { format: "int32" }
  if (type === "string" && typeof format === "string" && format in LENGTHS) return { maxLength: LENGTHS[format] }
  return {}
}

const within = (bound: unknown) => typeof bound === "number" && Math.abs(bound) < 2 ** 31

/** Maximum characters of a format: with nanoseconds and a zone. */
const LENGTHS: Record<string, number> = { date: 10, "date-time": 35 }
