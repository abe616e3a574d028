/** The parts of the document that partsOf reads. */
export interface Whole {
  paths: Record<string, Record<string, { operationId: string }>>
  components: Record<string, Record<string, object>>
}

/**
 * Splits the document into one part per operation, with the components that no other operation refers to, and `shared`
 * with the rest. Every element is in exactly one part. `shared` lists the paths in order.
 */
export function partsOf(document: Whole): Map<string, unknown> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation,
      refs: refsOf(document, operation),
    })),
  )
  const users = Map.groupBy(
    operations.flatMap(({ operation, refs }) => [...refs].map((ref) => ({ ref, id: operation.operationId }))),
    ({ ref }) => ref,
  )
  const isOwn = (ref: string) => users.get(ref)?.length === 1
  const components = Object.entries(document.components).map(([kind, named]) => {
    const shared = Object.entries(named).filter(([name]) => !isOwn(`${kind}/${name}`))
    return [kind, Object.fromEntries(shared)]
  })
  const paths = operations.map(({ path, method, operation }) => `${method} ${path} ${operation.operationId}`)
  return new Map<string, unknown>([
    ["shared", { ...document, paths, components: Object.fromEntries(components) }],
    ...operations.map(({ path, method, operation, refs }): [string, unknown] => {
      const ownRefs = [...refs].filter(isOwn).sort()
      const ownComponents = ownRefs.map((ref) => [ref, componentAt(document, ref)])
      return [operation.operationId, { path, method, operation, components: Object.fromEntries(ownComponents) }]
    }),
  ])
}

/** Returns the components that a value refers to, directly or indirectly, such as "schemas/Fault". */
function refsOf(document: Whole, value: unknown, found = new Set<string>()): Set<string> {
  for (const [, ref] of JSON.stringify(value).matchAll(/"#\/components\/([^"]+)"/g)) {
    if (found.has(ref!)) continue
    found.add(ref!)
    refsOf(document, componentAt(document, ref!), found)
  }
  return found
}

function componentAt({ components }: Whole, ref: string): unknown {
  const [kind, name] = ref.split("/")
  return components[kind!]![name!]
}
