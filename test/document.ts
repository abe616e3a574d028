import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import { catalog } from "../src/catalog.ts"
import { readTree } from "../src/database/assets.ts"
import { openApiDocument } from "../src/http/openapi.ts"
import { prepareSandbox } from "../src/http/sandbox.ts"
import { UNIVERSAL_FAULTS } from "../src/lib/faults.ts"
import { closed } from "./closed-document.ts"

const publicUrl = "http://127.0.0.1:8787"
const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
// JSON, as the server sends it
const document = JSON.parse(JSON.stringify(openApiDocument(catalog, { publicUrl, sandbox, version: "0.1.0" })))

// schemas are compiled for few uses, so inlining and optimising would cost more than they save
const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } })
addFormats(ajv)
ajv.addSchema(closed(document), "document")
ajv.addSchema(narrowable(closed(structuredClone(document))), "narrowable")

interface Content {
  content?: Record<string, { schema: object }>
  $ref?: string
}

/** Throws unless the served document describes this status of this path and its schema accepts the body. */
export function checkedAgainstDocument(method: string, path: string, status: number, body: unknown): void {
  // the document does not describe the health paths and itself, whose refusals are ordinary faults
  if (UNDESCRIBED.includes(path) && status !== 400 && status !== 405) return
  // as a client sends it: without ".."
  const { pathname, searchParams } = new URL(path, publicUrl)
  const pointer = schemaPointer(method, pathname, status)
  refuseOtherCodes(method, pathname, status, body)
  const schemaName = searchParams.has("fields") ? "narrowable" : "document"
  const validate = ajv.getSchema(`${schemaName}#${pointer}`)
  if (!validate) throw new Error(`the document has no schema for ${method} ${path} ${status} (${pointer})`)
  if (!validate(body))
    throw new Error(`${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`)
}

interface Documented {
  responses: Record<string, Content>
  "x-errors"?: string[]
}

/** Returns the operation. Undefined if the document has no such path or method. */
function operationAt(method: string, path: string, status: number): [template: string, Documented | undefined] {
  const below = path.replace(/^\/v1(\/sandbox)?/, "")
  const [template] = TEMPLATES.find(([, pattern]) => pattern.test(below)) ?? [""]
  const outside = path.startsWith("/v1/sandbox") && (method !== "GET" || status === 405)
  return [template, outside ? undefined : document.paths[template]?.[method.toLowerCase()]]
}

/**
 * Throws if the operation does not declare the code. A response lists every code of its status; x-errors has those of
 * the operation.
 */
function refuseOtherCodes(method: string, path: string, status: number, body: unknown): void {
  const [, operation] = operationAt(method, path, status)
  if (!operation || status < 400) return
  const { error } = body as { error: string }
  const errors = [...(operation["x-errors"] ?? []), ...UNIVERSAL_FAULTS]
  if (!errors.includes(error)) throw new Error(`the document has no ${error} for ${method} ${path}`)
}

function schemaPointer(method: string, path: string, status: number): string {
  const [template, { responses } = {}] = operationAt(method, path, status)
  // a path or method that the document does not have is still answered with a fault
  if (!responses) return "/components/schemas/Fault"
  if (!responses[status]) throw new Error(`the document has no ${status} for ${method} ${path}`)
  const response = responses[status] as Content
  if (response.$ref) return `${response.$ref.slice(1)}/content/application~1json/schema`
  return (
    `/paths/${template.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D")}/` +
    `${method.toLowerCase()}/responses/${status}/content/application~1json/schema`
  )
}

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema of every shape
type Json = any

/** Returns the document for calls with `fields`: the fields in x-narrow become optional, and nothing else. */
function narrowable(document: Json): Json {
  const { schemas } = document.components
  const named = (schema: Json): Json => (schema.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema)
  const alternatives = (schema: Json): Json[] => [schema, ...(schema.anyOf ?? [])].map(named)
  const isPart = (schema: Json) => alternatives(schema).some(({ type }) => type === "array" || type === "object")
  /** Returns the shape and those that it extends, with only the fields required that `stay` selects. */
  const loose = (schema: Json, stay: (field: Json, name: string) => boolean): Json => {
    const { title: _, required = [], allOf, ...shape } = named(schema)
    const extended = allOf && { allOf: allOf.map((base: Json) => loose(base, stay)) }
    return { ...shape, ...extended, required: required.filter((name: string) => stay(shape.properties[name], name)) }
  }
  const answers = Object.values<Json>(document.paths).flatMap((path) =>
    Object.values<Json>(path).map(({ responses }) => responses[200]),
  )
  for (const { "x-narrow": narrow, content } of answers.filter((answer) => "x-narrow" in answer)) {
    const json = content["application/json"]
    if (narrow === "parts") json.schema = loose(json.schema, (field) => !isPart(field))
    else
      for (const list of narrow.rows) {
        const array = alternatives(named(json.schema).properties[list]).find(({ items }) => items) as Json
        array.items = loose(array.items, (_, name) => name === narrow.always[list])
      }
  }
  return document
}

const UNDESCRIBED = ["/livez", "/readyz", "/v1/openapi.json"]

/** Maps a path below /v1 to its template in the document. */
const TEMPLATES: readonly [template: string, path: RegExp][] = Object.keys(document.paths).map((template) => [
  template,
  new RegExp(`^${template.replace(/^\/v1/, "").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
])
