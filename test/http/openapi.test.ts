import { beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import { catalog } from "../../src/catalog.ts"
import { checkInput } from "../../src/core/check-input.ts"
import { limited } from "../../src/http/openapi/operation.ts"
import { faultsOf } from "../../src/http/openapi/responses.ts"
import { openApiDocument } from "../../src/http/openapi.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"
import { toolOf } from "../../src/http/tools/listing.ts"
import { FAULT_CODES, FAULTS, Fault, UNIVERSAL_FAULTS } from "../../src/lib/faults.ts"
import { jsonSchema } from "../../src/lib/schema.ts"
import { closed } from "../closed-document.ts"
import operationRows from "../contract/operations.json"
import { freshDatabase } from "../database.ts"
import { LONG, long, slow } from "../long.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { openService, PUBLIC_URL } from "../service.ts"
import { expectSnapshots } from "../snapshot.ts"
import { partsOf } from "./openapi-parts.ts"

const publicUrl = "http://127.0.0.1:8787"
const redocly = join(import.meta.dirname, "../../node_modules/.bin/redocly")

let document: Document
let withSamples: Document

beforeAll(() => {
  const sandbox = prepareSandbox(catalogWithSamples, fixturesWithSamples(), publicUrl)
  document = JSON.parse(JSON.stringify(openApiDocument(catalog, { publicUrl, sandbox, version: "0.1.0" })))
  withSamples = JSON.parse(
    JSON.stringify(openApiDocument(catalogWithSamples, { publicUrl, sandbox, version: "0.1.0" })),
  )
})

describe("the document", () => {
  test("the OpenAPI document matches its snapshot", () => expectSnapshots("openapi", partsOf(document)))

  long("Redocly's strict rules find no problem in the document", () => {
    if (LONG) expect(lint(document)).toMatchObject({ exitCode: 0 })
    // includes a POST, Hive, limits and a price range, which no built operation has yet
    expect(lint(withSamples)).toMatchObject({ exitCode: 0 })
  })

  long("Redocly finds an example that does not fit its schema", () => {
    const broken = structuredClone(document)
    broken.paths = Object.fromEntries(Object.entries(broken.paths).slice(0, 1))
    Object.assign(Object.values(broken.paths)[0]?.get?.responses[200].content["application/json"].example, { odd: 1 })
    const { exitCode, output } = lint(broken)
    expect(exitCode).toBe(1)
    expect(output).toContain("no-invalid-media-type-examples")
  })

  slow("a validator with formats accepts every example, including errors", () => {
    const ajv = addFormats(
      new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } }),
    )
    ajv.addSchema(closed(withSamples), "document")
    const check = (name: string, ref: object, example: unknown) =>
      expect([name, ajv.validate(rebased(ref), example), ajv.errorsText()]).toEqual([name, true, "No errors"])
    for (const { operationId, responses } of operations(withSamples)) {
      const { schema, example } = responses[200].content["application/json"]
      check(operationId, schema, example)
    }
    for (const [name, response] of Object.entries(withSamples.components.responses)) {
      if (name === "NotModified") continue
      const { schema, examples } = response.content["application/json"]
      for (const { value } of Object.values(examples as Record<string, { value: unknown }>)) check(name, schema, value)
      expect(ajv.validate(rebased(schema), { error: "no_such_code", message: "m", docs: publicUrl })).toBe(false)
      const example = Object.values(examples as Record<string, { value: object }>)[0]!.value
      expect(ajv.validate(rebased(schema), { ...example, odd: 1 })).toBe(false)
    }
  })

  test("the document has every operation of the catalog below one server, and no other", () => {
    expect(
      operations(document)
        .map(({ operationId }) => operationId)
        .sort(),
    ).toEqual(catalog.map(({ id }) => id).sort())
    expect(document.servers).toEqual([{ url: "http://127.0.0.1:8787/v1" }])
    expect(document.info.version).toBe("1.5.0")
  })

  test("the document names every code with its status", () => {
    const { Fault, FaultCode } = document.components.schemas as { Fault: FaultSchema; FaultCode: { enum: string[] } }
    const { "x-codes": table } = Fault
    expect(FaultCode.enum).toEqual(FAULT_CODES)
    expect(Object.keys(table)).toEqual(FAULT_CODES)
    for (const code of FAULT_CODES) expect(table[code]).toMatchObject({ status: FAULTS[code].status })
  })
})

describe("an operation in the document", () => {
  test("a documented operation has the credits, scope, plan and Hive access of its contract row", () => {
    for (const operation of operations(document)) {
      const row = operationRows.find(
        ({ operationId }) => operationId === operation.operationId,
      ) as (typeof operationRows)[0]
      expect(operation["x-scope"]).toBe(row.scope)
      expect(operation["x-plan"]).toBe(row.plan ?? "free")
      expect(operation["x-hive"]).toBe((row as { hive?: string }).hive)
      if (row.price.min !== undefined) expect(operation["x-credits"]).toBe(row.price.min)
    }
  })

  test("the document shows a price range, a POST's body, and that a write's scope is of the action", () => {
    const [explorer, write] = ["explorer_sample", "write_sample"].map((id) => operationOf(withSamples, id))
    expect(explorer).toMatchObject({
      "x-credits": 5,
      "x-credits-at-most": 50,
      "x-credits-note": "5 a row",
      "x-hive": "explorer",
      parameters: [
        { name: "rows", in: "query", schema: { minimum: 1, maximum: 10, "x-code": "bad_days" } },
        { $ref: "#/components/parameters/IfNoneMatch" },
      ],
    })
    expect(write).toMatchObject({
      "x-scope": "of the action",
      requestBody: {
        required: true,
        content: { "application/json": { schema: { required: ["scope"] }, example: { scope: "track" } } },
      },
    })
    expect(write).not.toHaveProperty("parameters")
  })

  test("a parameter is documented with its location, its error code and whether it is required", () => {
    const hive = operationOf(withSamples, "hive_sample")
    expect(hive.parameters).toMatchObject([
      { name: "term", in: "path", required: true, example: "tea", schema: { type: "string", "x-code": "bad_term" } },
      { name: "country", in: "query", schema: { default: "us", "x-code": "bad_country" } },
      { $ref: "#/components/parameters/IfNoneMatch" },
    ])
    expect(hive.parameters?.[1]).not.toHaveProperty("required")
  })

  slow("documented limits are enforced: one more character or item is refused", () => {
    let tried = 0
    for (const operation of catalog) {
      const properties = limited(jsonSchema(operation.input, "input")).properties as Record<string, Limited>
      const { input } = JSON.parse(fixturesWithSamples().get(`${operation.id}.json`) as string)
      for (const [name, { type, maxLength, maxItems, items }] of Object.entries(properties)) {
        const item = items?.enum?.[0] ?? input[name]?.[0] ?? "x"
        const long = type === "string" && maxLength !== undefined ? "x".repeat(maxLength + 1) : undefined
        const many = type === "array" && maxItems !== undefined ? Array(maxItems + 1).fill(item) : undefined
        const value = long ?? many
        if (value === undefined) continue
        tried++
        const refused = faultOf(() => checkInput(operation, { ...input, [name]: value }))
        expect([operation.id, name, refused?.extra.field]).toEqual([operation.id, name, name])
      }
    }
    expect(tried).toBeGreaterThan(60)
  })

  test("each required parameter has an example, and the sandbox answers a read with these examples", async () => {
    const service = await openService({ sql: await freshDatabase(), settings: { sandboxPerSecond: 1_000 } })
    let read = 0
    for (const [path, { get }] of Object.entries(document.paths)) {
      const requiredParameters = (get?.parameters ?? []).map(resolved).filter(({ required }) => required)
      for (const { name, example } of requiredParameters) expect([path, name, example]).not.toContain(undefined)
      if (!get || requiredParameters.length === 0) continue
      const placed = (place: string) => requiredParameters.filter((parameter) => parameter.in === place)
      const filled = placed("path").reduce(
        (filling, { name, example }) => filling.replace(`{${name}}`, encodeURIComponent(String(example))),
        path,
      )
      const query = new URLSearchParams(placed("query").map(({ name, example }) => [name, String(example)]))
      const url = `${PUBLIC_URL}/v1/sandbox${filled}?${query}`
      const { status } = await service.app.fetch(new Request(url), null)
      expect([path, status]).toEqual([path, 200])
      read++
    }
    expect(read).toBeGreaterThan(50)
  })

  test("list items have no code of their own: an invalid item causes the list's code", () => {
    const codes = (value: unknown, inList: boolean): unknown[] =>
      typeof value !== "object" || value === null
        ? []
        : Object.entries(value).flatMap(([name, nested]) =>
            inList && name === "x-code" ? [nested] : codes(nested, inList || name === "items"),
          )
    expect(codes([document.paths, catalog.map((operation) => toolOf(operation))], false)).toEqual([])
  })

  test("a documented operation lists exactly the error codes that it can return", () => {
    const of = (id: string) => new Set(codesOf(withSamples, id))
    const [free, hive, write] = [of("whoami"), of("hive_sample"), of("write_sample")]
    for (const code of ["credits_exhausted", "scope_required", "not_found", "bad_country", "body_too_large"])
      expect([code, free.has(code)]).toEqual([code, false])
    for (const code of [
      "bad_term",
      "bad_country",
      "explorer_required",
      "daily_hive_limit",
      "not_measured",
      "scope_required",
    ])
      expect([code, hive.has(code)]).toEqual([code, true])
    for (const code of ["test_key_read_only", "body_too_large", "unsupported_media_type", "credits_exhausted"])
      expect([code, write.has(code)]).toEqual([code, true])
    for (const operation of catalogWithSamples)
      expect([...of(operation.id)].sort()).toEqual([...faultsOf(operation)].sort())
  })

  test("every documented response has the credit headers", () => {
    for (const { responses } of operations(withSamples))
      for (const response of Object.values(responses)) {
        const { headers } = response.$ref ? responseAt(withSamples, response.$ref) : response
        for (const name of ["used", "limit", "remaining", "reset"]) expect(headers).toHaveProperty(`x-credits-${name}`)
      }
  })
})

interface Limited {
  type?: string
  maxLength?: number
  maxItems?: number
  items?: { enum?: string[] }
}

interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  example?: unknown
}

function resolved(parameter: object): Parameter {
  const { $ref } = parameter as Parameter
  return ($ref ? document.components.parameters[$ref.split("/").at(-1) as string] : parameter) as Parameter
}

function faultOf(work: () => unknown): Fault | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  return undefined
}

interface Content {
  $ref?: string
  headers: object
  // biome-ignore lint/suspicious/noExplicitAny: schemas and examples of every operation
  content: Record<string, any>
}

interface DocumentedOperation {
  operationId: string
  parameters?: object[]
  responses: Record<string, Content> & { 200: Content }
  [extension: `x-${string}`]: unknown
}

interface FaultSchema {
  "x-codes": Record<string, object>
}

interface Document {
  info: { version: string }
  servers: object[]
  paths: Record<string, Record<string, DocumentedOperation>>
  components: {
    schemas: Record<string, object>
    responses: Record<string, Content>
    parameters: Record<string, object>
  }
}

function operations(document: Document): DocumentedOperation[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item))
}

function operationOf(document: Document, id: string): DocumentedOperation {
  return operations(document).find(({ operationId }) => operationId === id) as DocumentedOperation
}

function responseAt(document: Document, ref: string): Content {
  return document.components.responses[ref.slice("#/components/responses/".length)] as Content
}

/** Returns the codes in the operation's responses that every call can cause or that the operation declares. */
function codesOf(document: Document, id: string): string[] {
  const { responses, "x-errors": declared = [] } = operationOf(document, id)
  const named = Object.values(responses).flatMap(({ $ref }) =>
    $ref && responseAt(document, $ref).content
      ? (responseAt(document, $ref).content["application/json"].schema.allOf[1].properties.error.enum as string[])
      : [],
  )
  const can = new Set<string>([...(declared as string[]), ...UNIVERSAL_FAULTS])
  return named.filter((code) => can.has(code))
}

function rebased(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))
}

function lint(document: object): { exitCode: number; output: string } {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-openapi-"))
  try {
    writeFileSync(join(folder, "openapi.json"), JSON.stringify(document))
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      [process.execPath, redocly, "lint", "--extends", "recommended-strict", "openapi.json"],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" },
      },
    )
    return { exitCode, output: `${stdout}${stderr}` }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
