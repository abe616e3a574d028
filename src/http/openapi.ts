import { FaultShape } from "../core/fault-shapes.ts"
import type { Operation } from "../core/operation.ts"
import { FAULT_CODES, FAULTS } from "../lib/faults.ts"
import { HEADERS } from "./openapi/headers.ts"
import { answerName, documentedOperation } from "./openapi/operation.ts"
import { sharedParameters } from "./openapi/parameters.ts"
import { errorResponses, NOT_MODIFIED, PARAMETERS } from "./openapi/responses.ts"
import { Shapes } from "./openapi/shapes.ts"
import type { Sandbox } from "./sandbox.ts"

/**
 * OpenAPI 3.1 with the samples as examples. x-credits is the minimum price (also x-credits-at-most, x-credits-note).
 * x-scope, x-plan and x-hive are the required rights. x-code is the error code of an invalid value, x-table describes
 * row formats, x-narrow the fields that `fields` can select, and x-errors the codes that not every call can return.
 * Without `examples` the document has half the size, which is enough for a generator.
 */
export function openApiDocument(
  catalog: readonly Operation[],
  {
    publicUrl,
    sandbox: { samples },
    version,
    examples = true,
  }: { publicUrl: string; sandbox: Pick<Sandbox, "samples">; version: string; examples?: boolean },
): object {
  const paths: Record<string, Record<string, object>> = {}
  const shapes = new Shapes()
  for (const operation of catalog) {
    const sample = samples.get(operation.id)
    if (!sample) throw new Error(`${operation.id} has no sample for the document`)
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}")
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: documentedOperation(operation, examples ? sample : null, shapes),
    }
    shapes.add(answerName(operation), operation.output)
  }
  shapes.add("Fault", FaultShape, { "x-codes": codeTable() })
  const parameters = { ...PARAMETERS, ...sharedParameters(paths) }
  return {
    openapi: "3.1.0",
    info: { ...INFO, "x-appmeter-version": version },
    servers: [{ url: `${publicUrl}/v1` }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: tagsOf(catalog),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      parameters,
      responses: { NotModified: NOT_MODIFIED, ...errorResponses(catalog, examples ? publicUrl : null) },
      schemas: shapes.schemas,
    },
  }
}

export const INFO = {
  title: "Appmeter",
  version: "1.5.0",
  summary: "App store rankings, listings, reviews and rivals of your apps.",
  description:
    "A keyword has one of three states: `measured: false` means not measured; `rank: null` means measured and absent " +
    "from the results read; otherwise `rank` is a number.\n\n" +
    "Below `/sandbox` every GET answers with fixed sample data, without a key and free of charge.",
  license: { name: "MIT", identifier: "MIT" },
}

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key: svc_live_… or svc_test_…" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key in its own header." },
}

const TAGS: Record<Operation["group"], string> = {
  Account: "The caller and the workspace.",
  "Your apps": "Measurements of the tracked apps.",
  "Revenue and ads": "Figures from connected accounts.",
  Hive: "Market data of any app or keyword.",
  Writes: "Writes with preview and confirm.",
}

function tagsOf(catalog: readonly Operation[]): object[] {
  const groups = [...new Set(catalog.map(({ group }) => group))]
  return groups.map((name) => ({ name, description: TAGS[name] }))
}

/** Returns each code with its message and its additional fields. */
function codeTable(): object {
  const codes = FAULT_CODES.map((code) => {
    const { status, message, extra } = FAULTS[code]
    return [code, { status, message, ...(extra.length > 0 && { fields: extra }) }]
  })
  return Object.fromEntries(codes)
}
