import { capitalised } from "../../lib/schema.ts"

type DocumentPaths = Record<string, { parameters?: object[] }>

/**
 * Returns components.parameters, the shared parameters. If several have the same name, only the most frequent one is
 * shared.
 */
export function sharedParameters(paths: Record<string, DocumentPaths>): Record<string, object> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const counts = Map.groupBy(
    operations.flatMap(({ parameters = [] }) => parameters.filter((item): item is NamedParameter => "name" in item)),
    (parameter) => JSON.stringify(parameter),
  )
  const commonest = new Map<string, NamedParameter[]>()
  for (const alike of counts.values()) {
    const { name } = alike[0]!
    if (alike.length >= SHARED_BY && alike.length > (commonest.get(name)?.length ?? 0)) commonest.set(name, alike)
  }
  const texts = new Map([...commonest].map(([name, alike]) => [JSON.stringify(alike[0]), capitalised(name)]))
  for (const operation of operations)
    operation.parameters &&= operation.parameters.map((parameter) => {
      const name = texts.get(JSON.stringify(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    })
  return Object.fromEntries([...commonest].map(([name, alike]) => [capitalised(name), alike[0] as object]))
}

const SHARED_BY = 3

interface NamedParameter {
  name: string
}
