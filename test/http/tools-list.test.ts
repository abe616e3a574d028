import { beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { actions, catalog } from "../../src/catalog.ts"
import { type Operation, TOOLSETS } from "../../src/core/operation.ts"
import { prompts } from "../../src/http/assistants/prompts.ts"
import { DAILY_TOOLS } from "../../src/lib/daily-tools.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { type PostOptions, post, request } from "./tools-messages.ts"
import { catalogWithTools, fixturesWithTools } from "./tools-samples.ts"

let service: Service
let samples: Service
let key: string

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql })
  samples = openService({ sql, catalog: catalogWithTools, fixtures: fixturesWithTools() })
  key = await service.key(await service.workspace())
})

const call = (name: string) => request("tools/call", { name, arguments: {} })
const send = (message: unknown, options: PostOptions = {}) => post(samples, message, { key, ...options })

describe("the list", () => {
  const list = async (service: Service, query = "") =>
    (await post(service, request("tools/list"), { key, query })).body.result.tools as Tool[]
  interface Tool {
    name: string
    title: string
    description: string
    inputSchema: { type: string; properties: Record<string, { default?: unknown }> }
    outputSchema?: { type: string }
    annotations: Record<string, unknown>
  }

  test("the tool list has every operation under its id, sorted, whatever the key's rights", async () => {
    const names = (await list(service)).map(({ name }) => name)
    expect(names).toEqual(catalog.map(({ id }) => id).sort())
    const poor = await service.key(await service.workspace({ plan: "free" }), { scopes: [] })
    const listed = await post(service, request("tools/list"), { key: poor })
    expect(listed.body.result.tools.map(({ name }: Tool) => name)).toEqual(names)
  })

  test("the tool list is byte-identical in a hundred requests and for any order of the catalog", async () => {
    const lists = new Set<string>()
    for (let i = 0; i < 100; i++) lists.add((await post(service, request("tools/list"), { key })).text)
    const other = openService({ sql: service.sql, catalog: catalog.toReversed() })
    lists.add((await post(other, request("tools/list"), { key })).text)
    expect(lists.size).toBe(1)
  })

  test("every tool describes its arguments, answer, cost and required rights", async () => {
    for (const tool of await list(samples, "?schemas=yes")) {
      const declared = catalogWithTools.find(({ id }) => id === tool.name) as Operation
      expect(tool.name).toMatch(/^[a-z][a-z0-9_]{0,63}$/)
      expect(tool.title).toMatch(/^[A-Z][A-Za-z ]+$/)
      expect(tool.description).toStartWith(declared.summary)
      expect(tool.description.split("\n").at(-1)).toMatch(/^Costs .+; .+\.$/)
      if (declared.scope) expect(tool.description).toContain(`the scope ${declared.scope}`)
      expect(tool.inputSchema.type).toBe("object")
      const renamed = Object.entries(declared.connector?.names ?? {})
      const names = Object.keys(declared.input.entries).map(
        (plainName) => renamed.find(([, name]) => name === plainName)?.[0] ?? plainName,
      )
      expect(Object.keys(tool.inputSchema.properties).sort()).toEqual(names.sort())
      expect(tool.outputSchema?.type).toBe("object")
      expect(JSON.stringify(tool)).not.toContain('"x-')
    }
  })

  test("every tool has price, scope and plan on one line", async () => {
    const lines = Object.fromEntries(
      (await list(samples)).map((tool) => [tool.name, tool.description.split("\n").at(-1)]),
    )
    expect(lines).toMatchObject({
      whoami: "Costs nothing; needs no scope.",
      list_apps: "Costs 1 credit; needs the scope apps:read.",
      get_rank_history: "Costs 1 credit; needs the scope apps:read and the Pro plan or above.",
      hive_sample: "Costs 10 credits; needs the scope hive:read and Explorer or a credit pack.",
      explorer_sample: "Costs 5 to 50 credits (5 a row); needs the scope hive:spy and Explorer.",
      write_sample: "Costs 2 credits; scope and plan are those of the action.",
    })
  })

  test("the tool list shows the defaults that apply to tools", async () => {
    const tool = (await list(samples)).find(({ name }) => name === "wait_sample") as Tool
    expect(tool.inputSchema.properties.wait?.default).toBe(15)
    for (const { id, toolDefaults = {} } of catalogWithTools) {
      const { description, inputSchema } = (await list(samples)).find(({ name }) => name === id) as Tool
      for (const [name, value] of Object.entries(toolDefaults)) {
        expect(inputSchema.properties[name]?.default).toBe(value as number)
        expect(description).toContain(`the default of ${name} is ${value} (REST: `)
      }
    }
  })

  test("every tool has annotations about its effects", async () => {
    const hints = {
      reads: { readOnlyHint: true, destructiveHint: false },
      previews: { readOnlyHint: true, destructiveHint: false },
      measures: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      spends: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
      writes: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    }
    for (const { name, annotations } of await list(samples)) {
      const { effect } = catalogWithTools.find(({ id }) => id === name) as Operation
      expect(annotations).toMatchObject(hints[effect])
      for (const value of Object.values(annotations)) expect(value).toBeDefined()
    }
  })

  test("every text in an answer is described as possibly written by a model or read from an image", async () => {
    const written = catalog.filter(({ output }) => "written" in ((output as { entries?: object }).entries ?? {}))
    expect(written.map(({ id }) => id).sort()).toEqual([
      "draft_listing",
      "draft_review_reply",
      "get_screenshot_text",
      "localize_listing",
      "suggest_keywords",
      "summarize_reviews",
    ])
    const tools = new Map((await list(service)).map((tool) => [tool.name, tool]))
    for (const { id, effect } of written) {
      const { description, annotations } = tools.get(id)!
      expect([id, effect, annotations!.openWorldHint]).toEqual([id, "spends", true])
      expect([id, description]).toEqual([id, expect.stringMatching(/language model|screenshots/)])
    }
  })

  test("toolsets limit the tool list, and a tool outside of them cannot be called", async () => {
    const tools = await list(samples, "?tools=keywords,account")
    const open = catalogWithTools.filter(({ toolset }) => toolset === "keywords" || toolset === "account")
    expect(tools.map(({ name }) => name)).toEqual(open.map(({ id }) => id).sort())
    for (const { id } of samplesOf()) {
      const { status, body } = await send(call(id), { query: "?tools=keywords,account" })
      expect([status, body.error?.code]).toEqual([200, -32602])
    }
    expect((await send(call("whoami"), { query: "?tools=keywords,account" })).body.result.isError).toBeUndefined()
    expect(await list(samples, "?tools=account%2Ckeywords")).toEqual(tools)
    const ads = (await list(samples, "?tools=ads")).map(({ name }: { name: string }) => name)
    expect(ads).toEqual(
      catalog
        .filter(({ toolset }) => toolset === "ads")
        .map(({ id }) => id)
        .sort(),
    )
  })

  test("the daily toolset has fewer than 30 tools, including every tool that a prompt names", async () => {
    const names = (await list(service, "?tools=daily")).map(({ name }) => name)
    expect(names).toEqual([...DAILY_TOOLS].sort())
    expect(names.length).toBeLessThan(30)
    for (const { text } of prompts)
      for (const [word] of text({ appId: "app_x", country: "us" }).matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g))
        if (catalog.some(({ id }) => id === word)) expect(names).toContain(word)
    const called = await post(service, request("tools/call", { name: "get_revenue", arguments: {} }), {
      key,
      query: "?tools=daily",
    })
    expect(called.body.error.code).toBe(-32602)
    const listedNames = (await list(service, "?tools=daily,revenue")).map(({ name }) => name)
    expect(listedNames).toEqual(expect.arrayContaining(["get_revenue", "search", "list_reviews"]))
  })

  test("search takes a query and fetch an id, and each answers with exactly one text item", async () => {
    const tool = (await list(service)).find(({ name }) => name === "search") as Tool
    expect(Object.keys(tool.inputSchema.properties)).toEqual(["query"])
    const testKey = await service.key(await service.workspace({ plan: "pro" }), { kind: "test" })
    const calls: [string, object][] = [
      ["search", { query: "journal" }],
      ["search", { q: "journal" }],
      ["fetch", { id: "kw:app_lumenjournal:us:journal" }],
    ]
    for (const [name, args] of calls) {
      const message = request("tools/call", { name, arguments: args })
      const { content, structuredContent } = (await post(service, message, { key: testKey })).body.result
      expect([name, content.length, content[0].type]).toEqual([name, 1, "text"])
      expect(JSON.parse(content[0].text)).toEqual(structuredContent)
    }
  })

  test("the tool list is short enough for a model, and shows output schemas only on request", async () => {
    const tokens = async (query: string) => JSON.stringify(await list(service, query)).length / 4
    // 10,600 tokens for the first 30 tools and 11 actions, 256 for each further tool, and 200 for the arguments of each
    // further action
    expect(await tokens("")).toBeLessThan(10_600 + (catalog.length - 30) * 256 + (actions.length - 11) * 200)
    expect(await tokens("?tools=keywords")).toBeLessThan(1_500)
    const [short, whole] = [await list(service), await list(service, "?schemas=yes")]
    expect(short.filter(({ outputSchema }) => outputSchema)).toEqual([])
    expect(whole.map(({ outputSchema: _, ...tool }) => tool)).toEqual(short)
    const narrow = await list(service, "?schemas=yes&tools=keywords")
    expect(narrow).toEqual(whole.filter(({ name }) => narrow.some((tool) => tool.name === name)))
  })

  test.each([
    ["get_app", "get_today", "list_keyword_ranks"],
    ["get_today", "get_portfolio_overview"],
    ["get_portfolio_overview", "get_today"],
    ["list_keyword_ranks", "get_rank_history"],
    ["get_rank_history", "list_keyword_ranks"],
    ["check_rank", "list_keyword_ranks"],
    ["list_reviews", "search_reviews"],
    ["search_reviews", "get_review_stats"],
    ["get_review_stats", "search_reviews"],
    ["get_store_page", "get_timeline"],
    ["get_timeline", "get_store_page"],
    ["get_chart_positions", "get_chart_movers"],
    ["get_chart_movers", "get_chart_positions"],
    ["list_rivals", "get_rival"],
  ] as [string, ...string[]][])(
    "the description of %s names the tools for related questions",
    async (name, ...otherNames) => {
      const { description } = (await list(service)).find((tool) => tool.name === name) as Tool
      for (const other of otherNames) expect(description).toContain(other)
    },
  )

  test("descriptions name only existing tools", async () => {
    const every = JSON.parse(readFileSync(join(import.meta.dirname, "../contract/operations.json"), "utf8"))
    const ids = (every as { operationId: string }[]).map(({ operationId }) => operationId)
    const operationIds = new Set(catalog.map(({ id }) => id))
    const texts = JSON.stringify(await list(service, "?schemas=yes"))
    expect(ids.length).toBe(69)
    expect(ids.filter((id) => !operationIds.has(id) && new RegExp(`\\b${id}\\b`).test(texts))).toEqual([])
  })

  test("descriptions name no REST address", async () => {
    expect(JSON.stringify(await list(service, "?schemas=yes"))).not.toMatch(/\b(GET|POST) \/|\/v1\//)
  })

  test("a tool list without the toolset of writes has no destructive tool", async () => {
    const reading = await list(samples, `?tools=${TOOLSETS.filter((toolset) => toolset !== "writes").join(",")}`)
    expect(reading.length).toBeGreaterThan(5)
    for (const { annotations } of reading) expect(annotations.destructiveHint).toBe(false)
    expect((await list(samples)).some(({ annotations }) => annotations.destructiveHint)).toBe(true)
  })

  const refused = [
    "?tools=",
    "?tools",
    "?tools=none",
    "?tools=keywords,",
    "?tools=Keywords",
    "?tools=keywords,none",
    "?tools=%",
    "?tool=keywords",
    "?tools=keywords&x=1",
    "?schemas=no",
    "?schemas",
    "?schemas=yes&schemas=yes",
    "?tools=keywords&tools=apps",
    "?x",
    "?constructor=1",
    "?tools=constructor",
    "?tools= keywords",
    "?&",
  ]
  test.each(refused)("the query %s is refused on every method, with the valid toolsets", async (query) => {
    for (const message of [request("initialize"), request("tools/list"), call("whoami")]) {
      const { status, body } = await send(message, { query })
      expect([status, body.id, body.error.code]).toEqual([400, 7, -32602])
      expect(body.error.message).toContain("keywords, rivals, reviews")
      expect(body.error.message).not.toMatch(/none|constructor|x=1/)
    }
  })

  const samplesOf = () => catalogWithTools.filter(({ toolset }) => toolset === "hive" || toolset === "writes")
})
