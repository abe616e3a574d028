import { beforeAll, describe, expect, test } from "bun:test"
import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import fc from "fast-check"
import * as v from "valibot"
import { catalog } from "../../src/catalog.ts"
import { answerSchema, EmptyAnswer, narrowed, type Operation, PendingAnswer } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import { tableColumns, tableText } from "../../src/http/tables.ts"
import { toolOf } from "../../src/http/tools/listing.ts"
import { jsonSchema, type Schema } from "../../src/lib/schema.ts"
import { freshDatabase } from "../database.ts"
import { trackYear } from "../keywords/tracked-year.ts"
import { cases, slow } from "../long.ts"
import { NOW } from "../measuring/record/measured.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { readCsv } from "../sharing/read-csv.ts"
import { newStoreId, trackOwn } from "../world/app.ts"

// biome-ignore lint/suspicious/noExplicitAny: answers of every operation
type Answer = any

const fixtures = readTree("fixtures/sandbox", ".json")
const sampleOf = ({ id }: Operation): { input: Answer; answer: Answer } =>
  JSON.parse(fixtures.get(`${id}.json`) as string)
const narrow = catalog.filter((operation) => operation.narrow)
const namesOf = ({ input }: Operation): string[] =>
  (jsonSchema(input.entries.fields as Schema, "input") as Answer).items.enum

/** The field that names a row, by operation and list, if it is not "id". */
const NAMING: Record<string, Record<string, string>> = {
  get_portfolio_overview: { apps: "appId" },
  list_keyword_ranks: { keywords: "term" },
  get_rank_history: { keywords: "term" },
  get_chart_positions: { charts: "device" },
  summarize_reviews: { themes: "topic", finerThemes: "label" },
  get_timeline: { changes: "kind" },
  get_today: { figures: "key" },
  get_keyword_competition: { keywords: "term" },
  get_storefront_audit: { rows: "country" },
  get_revenue: { days: "day", countries: "country", products: "product" },
  get_subscriptions: { days: "day", countries: "country" },
  get_funnel: { days: "day", countries: "country", trafficSources: "source" },
  list_ads_search_terms: { terms: "term" },
  list_ads_commands: { commands: "at" },
  get_search_popularity: { top: "term", wanted: "term" },
  get_pricing: { paid: "product", listed: "product", offers: "offer", offered: "product" },
  get_country_prices: { countries: "country", products: "product" },
  hive_get_keyword_metrics_history: { difficulty: "day", popularity: "day" },
  hive_spy_app: { keywords: "term" },
  hive_get_keyword_gap: { keywords: "term" },
  hive_research_keyword: { keywords: "term" },
  hive_get_landscape: { categories: "genre" },
}

/** Returns the expected narrowed answer, computed without the code under test. */
function narrowedBy(operation: Operation, answer: Answer, fields: string[]): Answer {
  const { narrow } = operation
  const some = (source: Answer, names: string[]) =>
    Object.fromEntries(names.filter((name) => name in source).map((name) => [name, source[name]]))
  if (narrow === "parts") {
    const dropped = namesOf(operation).filter((name) => !fields.includes(name))
    return some(
      answer,
      Object.keys(answer).filter((name) => !dropped.includes(name)),
    )
  }
  const lists = narrow!.rows.map((list) => {
    const name = NAMING[operation.id]?.[list] ?? "id"
    return [list, answer[list]?.map((row: Answer) => some(row, [name, ...fields])) ?? null]
  })
  return { ...answer, ...Object.fromEntries(lists) }
}

describe.each(narrow.map((operation) => [operation.id, operation] as const))("%s", (_, operation) => {
  const { answer } = sampleOf(operation)
  const names = namesOf(operation)
  const subset = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 })
  const ajv = addFormats(new Ajv2020({ strict: false, inlineRefs: false, code: { optimize: false } }))
  const tool = ajv.compile((toolOf(operation, true) as { outputSchema: object }).outputSchema)
  const only = (fields: string[], of: unknown = answer) => narrowed(operation, { fields }, of) as Answer

  test("a narrowed answer has the selected fields with unchanged values, and fits the tool's schema", () => {
    const property = fc.property(subset, (fields) => {
      const some = only(fields)
      expect(some).toEqual(narrowedBy(operation, answer, fields))
      expect(v.safeParse(answerSchema(operation), some).issues).toBeUndefined()
      expect([tool(some), tool.errors]).toEqual([true, null])
    })
    fc.assert(property, { numRuns: cases(4, 40), seed: 14 })
    expect(only(names)).toEqual(answer)
    expect(narrowed(operation, {}, answer)).toBe(answer)
    // the schema refuses an answer with an unknown field, or without a field that narrowing always keeps
    const { country: __, ...less } = { country: "us", ...answer }
    for (const wrong of [{ ...answer, odd: 1 }, ...("country" in answer ? [less] : [])])
      expect(v.safeParse(answerSchema(operation), wrong).success).toBe(false)
  })

  test("pending and empty answers are narrowed as well", () => {
    const fields = [names[0]!]
    expect(only(fields, new PendingAnswer(answer)).answer).toEqual(narrowedBy(operation, answer, fields))
    expect(only(fields, new EmptyAnswer(answer)).answer).toEqual(narrowedBy(operation, answer, fields))
  })

  if (operation.table)
    test("rows of a narrowed answer equal the rows of the full answer without the unselected columns", async () => {
      const rows = async (of: Answer) => {
        const [header, ...records] = readCsv(await tableText(operation, of, "text/csv")) as [string[], ...string[][]]
        return records.map((record) => Object.fromEntries(header.map((name, at) => [name, record[at]])))
      }
      const whole = await rows(answer)
      const property = fc.asyncProperty(subset, async (fields) => {
        for (const row of await rows(only(fields))) {
          expect(tableColumns(operation)).toEqual(expect.arrayContaining(Object.keys(row)))
          expect(whole).toContainEqual(expect.objectContaining(row))
        }
      })
      await fc.assert(property, { numRuns: cases(4, 25), seed: 14 })
      expect(await rows(only(names))).toEqual(whole)
    })
})

describe("fields", () => {
  let service: Service
  let key: string
  let app: string
  let testKey: string

  beforeAll(async () => {
    service = openService({ sql: await freshDatabase(), now: () => NOW })
    const overrides = { historyDays: 365, ratePerSecond: 1e6, trackedKeywords: 1_000 }
    const workspace = await service.workspace({ plan: "enterprise", overrides })
    key = await service.key(workspace)
    testKey = await service.key(workspace, { kind: "test" })
    app = await trackYear(service.sql, workspace, 50, "2025-11-20")
  })

  test("`fields` narrows REST answers, rows and tool answers at the same price", async () => {
    const path = `/v1/apps/${app}/keywords`
    const whole = (await service.call(path, { key })).body
    const before = (await service.call("/v1/account", { key })).credits.used
    const options = { key, headers: { "accept-encoding": "identity" } }
    const { body, credits, headers } = await service.call(`${path}?fields=term,rank`, options)
    expect(credits.used - before).toBe(1)
    const rows = whole.keywords.map(({ term, rank }: Answer) => ({ term, rank }))
    expect(body).toEqual({ ...whole, keywords: rows })
    expect((await service.call(`${path}?fields=rank&fields=term`, { key })).body).toEqual(body)
    expect((await service.tool("list_keyword_ranks", { appId: app, fields: ["rank", "term"] }, { key })).body).toEqual(
      body,
    )
    const etag = headers.get("etag") as string
    const conditional = (query: string) => service.call(`${path}${query}`, { key, headers: { "if-none-match": etag } })
    expect([(await conditional("?fields=term,rank")).status, (await conditional("")).status]).toEqual([304, 200])
    const csv = await service.call(`${path}?fields=term,rank`, { key, headers: { accept: "text/csv" } })
    expect(csv.text.split("\r\n")[0]).toBe("term,rank,country,platform,live")
    expect(csv.text.trim().split("\r\n").length).toBe(51)
  })

  test("unknown fields are refused with the nearest name and all valid ones, over REST and tools", async () => {
    for (const operation of narrow) {
      const names = namesOf(operation)
      const longest = names.toSorted((a, b) => b.length - a.length)[0]!
      const wrong = `${longest.slice(0, -1)}q`
      const { input } = sampleOf(operation)
      const { isError, body } = await service.tool(operation.id, { ...input, fields: [names[0], wrong] }, { key })
      expect([operation.id, isError, body.error, body.field]).toEqual([
        operation.id,
        true,
        "invalid_arguments",
        "fields",
      ])
      expect(body.detail).toBe(
        `fields must be a list of 1 to ${names.length}, each one of ${names.join(", ")}; ` +
          `received "${wrong}" as item 2. Did you mean ${longest}?`,
      )
      const path = operation.path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(input[name]))
      const inPath = new Set([...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => name))
      const query = new URLSearchParams(
        Object.entries(input).flatMap(([name, value]) => (inPath.has(name) ? [] : [[name, String(value)]])),
      )
      const callWith = async (fields: string) => await service.call(`/v1${path}?${query}&fields=${fields}`, { key })
      const rest = await callWith(`${names[0]},${wrong}`)
      expect([rest.status, rest.body.detail]).toEqual([400, body.detail])
      for (const none of ["", ","]) expect((await callWith(none)).body.field).toBe("fields")
    }
  })

  test("`fields` changes no byte in the sandbox or for a test key", async () => {
    const read = async (path: string, headers = {}) => {
      const response = await service.app.fetch(new Request(`${PUBLIC_URL}${path}`, { headers }), null)
      return { status: response.status, text: await response.text() }
    }
    for (const operation of narrow) {
      const { input } = sampleOf(operation)
      const path = operation.path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(input[name]))
      const rest = Object.entries(input).filter(([name]) => !operation.path.includes(`:${name}`))
      const params = new URLSearchParams(rest.map(([name, value]) => [name, String(value)]))
      const { text } = await read(`/v1/sandbox${path}?${params}`)
      for (const [at, headers] of [
        ["/v1/sandbox", {}],
        ["/v1", { authorization: `Bearer ${testKey}` }],
      ] as const) {
        const answer = await read(`${at}${path}?${params}&fields=${namesOf(operation)[0]}`, headers)
        expect([operation.id, answer.status, answer.text]).toEqual([operation.id, 200, text])
      }
    }
  })
})

slow("a narrowed row always keeps its identifying field, over REST and tools", async () => {
  const sql = await freshDatabase()
  const service = openService({ sql })
  const workspaceId = await service.workspace({ plan: "pro" })
  const appId = await trackOwn(sql, { workspaceId, iosId: newStoreId() })
  const key = await service.key(workspaceId)
  const named = { apps: [{ id: appId, goal: null }] }
  expect((await service.call("/v1/apps?fields=goal", { key })).body).toMatchObject(named)
  expect(JSON.stringify(await service.tool("list_apps", { fields: ["goal"] }, { key }))).toContain(appId)
})
