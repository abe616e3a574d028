import { FAULT_CODES, FAULTS, faultSchema } from "../faults.ts"
import type { Operation } from "../operation.ts"
import { jsonSchema } from "../vocabulary/schema.ts"
import { answerName, documentedOperation } from "./openapi/operation.ts"
import { errorResponses, HEADERS } from "./openapi/responses.ts"
import type { Sandbox } from "./sandbox.ts"

/**
 * The OpenAPI 3.1 document of a catalogue, with the sandbox's samples as examples. Beside the standard fields an operation
 * has x-credits (the least it costs; x-credits-at-most and x-credits-note where it varies), x-scope (null = none needed),
 * x-plan (the lowest) and x-hive ("pack" = a credit pack or Explorer, "explorer"); a parameter's schema has x-code, the
 * code of a bad value. Every code stands in components.schemas.Fault, with status and extra fields in x-codes.
 */
export function openApiDocument(
  catalog: readonly Operation[],
  { publicUrl, sandbox: { samples } }: { publicUrl: string; sandbox: Pick<Sandbox, "samples"> },
): object {
  const paths: Record<string, Record<string, object>> = {}
  const schemas: Record<string, object> = {}
  for (const operation of catalog) {
    const sample = samples.get(operation.id)
    if (!sample) throw new Error(`${operation.id} has no sample for the document`)
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}")
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: documentedOperation(operation, sample) }
    schemas[answerName(operation)] = jsonSchema(operation.output)
  }
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: `${publicUrl}/v1` }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: tagsOf(catalog),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: errorResponses(catalog, publicUrl),
      schemas: { ...schemas, Fault: documentedFault() },
    },
  }
}

export const INFO = {
  title: "Appmeter",
  version: "1.5.0",
  summary: "Where your apps stand in the stores.",
  description:
    "A term that was not measured has `measured: false`; one that was measured without the app among the results read has `rank: null`; otherwise `rank` is a number. The three are never mixed up.\n\nBelow `/sandbox` every GET is answered with fixed sample data, without a key and free of charge.",
  license: { name: "MIT", identifier: "MIT" },
}

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key: svc_live_… or svc_test_…" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key in a header of its own." },
}

const TAGS: Record<Operation["group"], string> = {
  Account: "The caller and its workspace.",
  "Your apps": "What was measured of the apps a workspace tracks.",
  "Revenue and ads": "What connected sources say of an app's money.",
  Hive: "Market data of any app or keyword measured.",
  Writes: "Changes, previewed and then confirmed.",
}

function tagsOf(catalog: readonly Operation[]): object[] {
  const groups = [...new Set(catalog.map(({ group }) => group))]
  return groups.map((name) => ({ name, description: TAGS[name] }))
}

/** The body of any error. */
function documentedFault(): object {
  const codes = FAULT_CODES.map((code) => {
    const { status, message, extra } = FAULTS[code]
    return [code, { status, message, fields: extra }]
  })
  return { ...jsonSchema(faultSchema()), "x-codes": Object.fromEntries(codes) }
}
