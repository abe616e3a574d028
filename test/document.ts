import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import { catalog } from "../src/catalog.ts"
import { readTree } from "../src/database/assets.ts"
import { openApiDocument } from "../src/surfaces/openapi.ts"
import { prepareSandbox } from "../src/surfaces/sandbox.ts"

const publicUrl = "http://127.0.0.1:8787"
const sandbox = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
// as it is served: through JSON
const document = JSON.parse(JSON.stringify(openApiDocument(catalog, { publicUrl, sandbox })))

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats(ajv)
ajv.addSchema(document, "document")

interface Content {
  content?: Record<string, { schema: object }>
  $ref?: string
}

/** Throws unless the served document describes this status of this path and its schema accepts the body. */
export function checkedAgainstDocument(method: string, path: string, status: number, body: unknown): void {
  // health and the document itself are not in the document; their refusals are faults like any other
  if (UNDESCRIBED.includes(path) && status !== 400 && status !== 405) return
  const pointer = schemaPointer(method, path.split("?")[0] as string, status)
  const validate = ajv.getSchema(`document#${pointer}`)
  if (!validate) throw new Error(`the document has no schema for ${method} ${path} ${status} (${pointer})`)
  if (!validate(body))
    throw new Error(`${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`)
}

function schemaPointer(method: string, path: string, status: number): string {
  const below = path.replace(/^\/v1(\/sandbox)?/, "")
  const template = Object.keys(document.paths).find((template) => matches(template, below))
  const responses = template && document.paths[template][method.toLowerCase()]?.responses
  // a path or method that the document does not have answers with a fault all the same
  if (!responses) return "/components/schemas/Fault"
  if (!responses[status]) throw new Error(`the document has no ${status} for ${method} ${path}`)
  const response: Content = responses[status]
  if (response.$ref) return `${response.$ref.slice(1)}/content/application~1json/schema`
  return `/paths/${template.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D")}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`
}

const UNDESCRIBED = ["/livez", "/readyz", "/v1/openapi.json"]

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replace(/^\/v1/, "").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path)
}
