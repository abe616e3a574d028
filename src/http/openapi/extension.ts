type Shape = Record<string, unknown>

interface ObjectShape {
  properties?: Record<string, unknown>
  required?: string[]
}

/** Expresses an object's shape as its base plus the differing and added properties. */
export function withoutShared(shape: Shape, base: { $ref: string }, whole: Shape): Shape {
  const { properties = {}, required = [], ...rest } = shape as Shape & ObjectShape
  const { properties: shared = {}, required: needed = [] } = whole as ObjectShape
  const missing = Object.keys(shared).find((name) => !(name in properties))
  if (missing !== undefined) throw new Error(`an extension of ${base.$ref} lacks ${missing}`)
  const same = (name: string) => JSON.stringify(properties[name]) === JSON.stringify(shared[name])
  const differing = Object.entries(properties).filter(([name]) => !same(name))
  const added = required.filter((name) => !needed.includes(name))
  return {
    allOf: [base],
    ...rest,
    properties: Object.fromEntries(differing),
    ...(added.length > 0 && { required: added }),
  }
}
