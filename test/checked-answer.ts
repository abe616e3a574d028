import * as v from "valibot"
import { catalog } from "../src/catalog.ts"
import { FaultShape } from "../src/core/fault-shapes.ts"
import { answerSchema } from "../src/core/operation.ts"

/**
 * Throws unless the body is exactly what the operation declares: no field is missing, wrong or undeclared. The served
 * document is made of the same schemas; comparing with it (document.ts) takes ten times as long.
 */
export function checkedAgainstSchema(method: string, path: string, status: number, body: unknown): void {
  if (NO_CALLS.includes(path) && status !== 400 && status !== 405) return
  const { pathname, searchParams } = new URL(path, "http://127.0.0.1")
  const operation = ROUTES.find(([of, pattern]) => of.method === method && pattern.test(pathname))?.[0]
  const output = operation && (searchParams.has("fields") ? answerSchema(operation) : operation.output)
  const { success, output: parsed, issues } = v.safeParse(status < 400 && output ? output : FaultShape, body)
  if (!success) throw new Error(`${method} ${path} ${status}: ${v.summarize(issues)}: ${JSON.stringify(body)}`)
  if (!Bun.deepEquals(parsed, body)) throw new Error(`${method} ${path} ${status}: undeclared: ${JSON.stringify(body)}`)
}

/** The health paths and the document are no operations. Their refusals are ordinary faults. */
const NO_CALLS = ["/livez", "/readyz", "/v1/openapi.json"]

/** Paths without parameters come first, because a parameter would match them too. */
const ROUTES = catalog
  .map((operation) => {
    const pattern = operation.path.replaceAll(/:\w+/g, "[^/]+")
    return [operation, new RegExp(`^/v1(/sandbox)?${pattern}$`)] as const
  })
  .sort(([a], [b]) => a.path.split(":").length - b.path.split(":").length)
