import { expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { jsonSchema } from "../../src/lib/schema.ts"

interface Shape {
  description?: string
  "x-about"?: string
  properties?: Record<string, Shape>
  items?: Shape
  prefixItems?: Shape[]
  anyOf?: Shape[]
}

const reads = catalog.filter(
  ({ group, effect }) => (group === "Account" || group === "Your apps") && effect !== "writes",
)

test.each(reads.map(({ id, input, output }) => [id, input, output] as const))(
  "every parameter of %s, and every field of its answer at any depth, has a description",
  (_, input, output) => {
    const inputSchema = jsonSchema(input, "input") as Shape
    const answered = jsonSchema(output) as Shape
    expect(Object.keys(answered.properties ?? {}).length).toBeGreaterThan(0)
    expect([...silent(inputSchema), ...silent(answered)]).toEqual([])
  },
)

function* silent({ properties = {}, items, prefixItems = [], anyOf = [] }: Shape, path = ""): Generator<string> {
  for (const [name, field] of Object.entries(properties)) {
    if (!isDescribed(field)) yield `${path}${name}`
    yield* silent(field, `${path}${name}.`)
  }
  for (const inner of [...(items ? [items] : []), ...prefixItems, ...anyOf]) yield* silent(inner, path)
}

/** True if the value, its named shape, or its non-null form has a description. */
function isDescribed({ description, "x-about": explanation, anyOf = [] }: Shape): boolean {
  return (description ?? explanation ?? "") !== "" || anyOf.some(isDescribed)
}
