import { beforeAll, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

let sql: Sql
let service: Service

const fixtures = readTree("fixtures/sandbox", ".json")
const sampleInput = (operation: string) =>
  JSON.parse(fixtures.get(`${operation}.json`)!).input as Record<string, string>

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

test("every path gives the same answer for another workspace's app as for an id that never existed", async () => {
  const [workspace, otherWorkspace] = [
    await service.workspace({ plan: "studio" }),
    await service.workspace({ plan: "studio" }),
  ]
  const key = await service.key(workspace)
  const foreign = await trackOwn(sql, { workspaceId: otherWorkspace, iosId: "1437843273", keywords: ["tea app"] })
  const appOperations = catalog.filter((operation) => operation.subject)
  expect(appOperations.length).toBeGreaterThan(0)
  for (const { id: operation, path, method } of appOperations) {
    const { appId, rivalId, ...rest } = sampleInput(operation)
    const query = new URLSearchParams(rest)
    const ask = (id: string) =>
      service.call(
        `/v1${path.replace(":appId", id).replace(":rivalId", "1437843274")}${method === "GET" ? `?${query}` : ""}`,
        {
          key,
          method,
          ...(method === "POST" && { body: rest }),
        },
      )
    const [real, never] = [await ask(foreign), await ask("app_neverexisted")]
    expect([operation, real.status, real.body.error]).toEqual([operation, 404, expect.any(String)])
    expect(real.text).toBe(never.text)
    expect(real.credits).toEqual(never.credits)
  }
})

test("a key limited to one app lists only that app, and gets the same refusal for any other id", async () => {
  const workspace = await service.workspace({ plan: "pro" })
  const [firstApp, secondApp] = await sql.begin(async (tx) => [
    await trackApp(tx, {
      workspaceId: workspace,
      iosId: "1437843273",
      countries: ["us"],
      keywords: ["tea app"],
      origin: "own",
    }),
    await trackApp(tx, {
      workspaceId: workspace,
      iosId: "595287172",
      countries: ["us"],
      keywords: ["my love"],
      origin: "own",
    }),
  ])
  const key = await service.key(workspace, { appList: [firstApp as string] })
  const list = await service.call("/v1/apps", { key })
  expect(list.body.apps.map((app: { id: string }) => app.id)).toEqual([firstApp])
  expect((await service.call("/v1/account", { key })).body.apps.map((app: { id: string }) => app.id)).toEqual([
    firstApp,
  ])
  expect((await service.call("/v1/usage", { key })).text).not.toContain(secondApp as string)
  const [refused, unknown] = [
    await service.call(`/v1/apps/${secondApp}`, { key }),
    await service.call("/v1/apps/app_neverexisted", { key }),
  ]
  expect(refused.body.error).toBe("app_not_allowed")
  expect(refused.text).toBe(unknown.text)
})
