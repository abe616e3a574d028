import { beforeAll, expect, test } from "bun:test"
import * as v from "valibot"
import { actions, catalog } from "../../src/catalog.ts"
import type { Operation } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import { queryInput } from "../../src/http/query.ts"
import { jsonSchema, type ObjectSchema, type Schema } from "../../src/lib/schema.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"

let service: Service
let key: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  key = await service.key(await service.workspace({ plan: "enterprise" }))
})

const fixtures = readTree("fixtures/sandbox", ".json")
const sampleOf = ({ id }: Operation) =>
  JSON.parse(fixtures.get(`${id}.json`) as string).input as Record<string, unknown>

interface Wrong {
  name: string
  value: unknown
}

/**
 * Returns values that a field refuses: of another type, beyond its limits, similar to its choices, empty, and missing
 * if the field is required.
 */
function wrongOf(name: string, entry: Schema): Wrong[] {
  const { enum: choices, minimum, maximum, maxLength, type } = jsonSchema(entry, "input") as Record<string, never>
  const tried: unknown[] = [
    undefined,
    "",
    7,
    -1,
    1.5,
    true,
    null,
    [],
    ["x"],
    { x: 1 },
    "no such thing",
    "2025-02-30",
    "zz",
    "x".repeat(5_000),
    ...(choices ? [`${(choices as string[])[0]}x`, String((choices as string[])[0]).toUpperCase()] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxLength === undefined ? [] : ["y".repeat(maxLength + 1)]),
  ]
  const isObject = type === "object"
  return tried
    .filter((value) => !v.is(entry, value) || (isObject && Array.isArray(value)))
    .map((value) => ({ name, value }))
}

const wrongsOf = ({ entries }: ObjectSchema): Wrong[] => [
  ...Object.entries(entries).flatMap(([name, entry]) => wrongOf(name, entry as Schema)),
  ...Object.keys(entries)
    .map((name) => ({ name: `${name}s`, value: "x" }))
    .filter(({ name }) => !(name in entries)),
  { name: "no_such_argument", value: 1 },
]

/** Returns what is missing in a refusal: it must name the field, the sent value and what is allowed. */
function teaches(body: Body, { name, value }: Wrong, entries: Record<string, unknown>): string | undefined {
  const { field, detail, problems } = body
  const named = problems?.find((problem) => problem.field === name)
  if (!named) return `no problem names ${name}: ${JSON.stringify(body)}`
  if (problems![0]!.field !== field || problems![0]!.detail !== detail)
    return `the first is not the fault: ${JSON.stringify(body)}`
  if (named.detail.length < 20 || named.detail.length > 1_200) return `says too little or too much: ${named.detail}`
  if (name in entries ? !named.detail.startsWith(name) : !/[Tt]his call takes/.test(named.detail))
    return `not taught: ${named.detail}`
  if (/undefined|\[object|NaN/.test(named.detail)) return `leaks: ${named.detail}`
  if (!(name in entries)) return undefined
  const { enum: choices, minimum, maximum } = jsonSchema(entries[name] as Schema, "input") as Record<string, unknown>
  const allowed = [(choices as string[] | undefined)?.[0], minimum, maximum].filter((choice) => choice !== undefined)
  if (allowed.length > 0 && !allowed.some((choice) => named.detail.includes(String(choice))))
    return `names nothing that is allowed: ${named.detail}`
  const isPlain = typeof value === "number" || typeof value === "boolean"
  if (isPlain && !named.detail.includes(String(value))) return `does not say what came: ${named.detail}`
  return undefined
}

interface Body {
  field?: string
  detail?: string
  problems?: { field: string; code: string; detail: string }[]
}

let tried = 0

test.each(catalog.map((operation) => [operation.id, operation] as const))(
  "as a tool, %s explains each wrong argument with the sent value and the allowed values",
  async (_, operation) => {
    const sample = sampleOf(operation)
    for (const { name, value } of wrongsOf(operation.input)) {
      const { [name]: __, ...rest } = sample
      const { isError, body } = await service.tool(
        operation.id,
        value === undefined ? rest : { ...rest, [name]: value },
        { key },
      )
      // a default of the tool replaces a missing argument
      if (!isError && value === undefined && name in (operation.toolDefaults ?? {})) continue
      expect([name, value, isError && teaches(body, { name, value }, operation.input.entries)]).toEqual([
        name,
        value,
        undefined,
      ])
      tried++
    }
  },
)

test.each(catalog.filter(({ method }) => method === "GET").map((operation) => [operation.id, operation] as const))(
  "%s explains each wrong argument in the same way over REST",
  async (_, operation) => {
    const inPath = operation.path.match(/(?<=:)\w+/g)?.map(String) ?? []
    const sample = sampleOf(operation)
    const path = operation.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(sample[name])))
    for (const { name, value } of wrongsOf(operation.input)) {
      if (inPath.includes(name) || (typeof value === "object" && value !== null)) continue
      const query = new URLSearchParams(
        Object.entries({ ...sample, [name]: value })
          .filter(([name, value]) => !inPath.includes(name) && value !== undefined)
          .map(([name, value]) => [name, String(value)]),
      )
      // a query contains a list, a number or a boolean as text
      const entry = operation.input.entries[name] as Schema | undefined
      if (entry && v.is(entry, queryInput(operation, `${query}`, {})[name])) continue
      const { status, body } = await service.call(`/v1${path}?${query}`, { key })
      expect([name, value, status, teaches(body, { name, value }, operation.input.entries)]).toEqual([
        name,
        value,
        400,
        undefined,
      ])
      tried++
    }
  },
)

test.each(actions.map((action) => [action.name, action] as const))(
  "the preview of %s explains wrong arguments as an operation does, over REST and as a tool",
  async (name, action) => {
    for (const wrong of wrongsOf(action.args as unknown as ObjectSchema)) {
      const { [wrong.name]: __, ...rest } = action.example as Record<string, unknown>
      const args = wrong.value === undefined ? rest : { ...rest, [wrong.name]: wrong.value }
      const rest_ = await service.call("/v1/actions", { key, method: "POST", body: { action: name, args } })
      const tool = await service.tool("preview_action", { action: name, args }, { key })
      expect(tool.body).toEqual(rest_.body)
      expect([wrong, rest_.status, teaches(rest_.body, wrong, action.args.entries)]).toEqual([wrong, 400, undefined])
      tried++
    }
  },
)

test("more than 500 wrong inputs were tested", () => expect(tried).toBeGreaterThan(500))
