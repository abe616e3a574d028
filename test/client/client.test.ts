import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import createClient from "openapi-fetch"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { sharing } from "../sharing/share-scene.ts"
import type { components, paths } from "./api.d.ts"

type App = components["schemas"]["App"]
type Write = paths["/actions"]["post"]["requestBody"]["content"]["application/json"]
type Preview = components["schemas"]["PreviewActionAnswer"]

describe("a client generated from the document", () => {
  let service: Service
  let server: ReturnType<typeof Bun.serve>
  let api: ReturnType<typeof createClient<paths>>
  let app: string

  beforeAll(async () => {
    service = openService({ sql: await freshDatabase() })
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => service.app.fetch(request, "127.0.0.1") })
    const scene = await sharing(service, { name: "Tea", keywords: ["tea"] })
    await scene.measure("tea", 0, 7)
    app = scene.app
    api = createClient<paths>({
      baseUrl: `${server.url.origin}/v1`,
      headers: { authorization: `Bearer ${scene.writer.key}` },
    })
  })
  afterAll(() => server.stop(true))

  test("a generated client reads apps and ranks with their generated types", async () => {
    const { data, error } = await api.GET("/apps")
    expect(error).toBeUndefined()
    const first: App | undefined = data!.apps.find(({ id }) => id === app)
    expect(first?.countries).toEqual(["us"])
    const ranks = await api.GET("/apps/{appId}/keywords", {
      params: { path: { appId: app }, query: { country: "us" } },
    })
    const [keyword] = ranks.data!.keywords as [components["schemas"]["Keyword"]]
    // rank is number | null: a client that forgets the null does not compile
    const rank: number = keyword.rank ?? Number.NaN
    expect([keyword.term, keyword.measured, rank]).toEqual(["tea", true, 7])
  })

  test("a generated client gets the status and the error code of a refused call", async () => {
    const { error, response } = await api.GET("/apps/{appId}/keywords", {
      params: { path: { appId: app }, query: { country: "zz" } },
    })
    expect([response.status, error?.error]).toEqual([400, "bad_country"])
  })

  test("a generated client previews and confirms a write with the types of the action", async () => {
    const { data } = await api.POST("/actions", {
      body: { action: "add_keywords", args: { appId: app, keywords: ["green tea"] } },
    })
    const preview = data as Preview
    if (preview.action !== "add_keywords") throw new Error(preview.action)
    // the union is narrowed by the action's name
    expect(preview.preview.after.tracked).toEqual([{ countries: ["us"], keywords: ["green tea"] }])
    const { data: outcome } = await api.POST("/actions/confirm", { body: { confirmToken: preview.confirmToken } })
    if (outcome?.action !== "add_keywords") throw new Error(outcome?.action)
    expect(outcome.result?.added).toEqual(["green tea"])
    expect([outcome.status, outcome.credits]).toEqual(["applied", 1])
  })

  test("passing a generated client the arguments of another action does not compile", async () => {
    // @ts-expect-error remove_rivals takes rivals, not keywords
    const args: Extract<Write, { action: "remove_rivals" }>["args"] = { appId: app, keywords: [] }
    const { error } = await api.POST("/actions", { body: { action: "remove_rivals", args } })
    expect(error?.error).toBe("invalid_arguments")
  })
})
