import { beforeAll, expect, test } from "bun:test"
import { rebuildCharts } from "../../../src/charts/store/rebuild-charts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { charted } from "../../measuring/record/charted.ts"
import { record } from "../../record.ts"
import { type Answer, openService } from "../../service.ts"

const NOW = new Date("2025-08-31T12:00:00Z")
let sql: Sql
let ask: (query: string) => Promise<Answer>

beforeAll(async () => {
  sql = await freshDatabase()
  const service = openService({ sql, now: () => NOW })
  const key = await service.key(await service.workspace({ explorer: true, plan: "enterprise" }))
  ask = (query) => service.call(`/v1/hive/find?${query}`, { key })
})

slow("rankMin and rankMax apply to the best rank on all searched charts", async () => {
  const listOf = (chart: "free" | "paid", ids: string[]) => {
    const apps = ids.map((id) => ({ id, name: `Tea ${id}` }))
    return charted("2025-08-30T12:00:00Z", [], { chart, apps, depth: 3, source: "apple-charts" })
  }
  const lists = [listOf("free", ["10005", "10003", "10004"]), listOf("paid", ["10004", "10005", "10009"])]
  await record(sql, lists, () => NOW)
  const found = async (query: string) => {
    const { body } = await ask(query)
    expect(body.total).toBe(body.apps.length)
    // biome-ignore lint/suspicious/noExplicitAny: a row of an answer
    return body.apps.map(({ id, rank, kind }: any) => [id, rank, kind].join(" "))
  }
  expect(await found("rankMin=2")).toEqual(["10003 2 free", "10009 3 paid"])
  expect(await found("rankMax=1")).toEqual(["10004 1 paid", "10005 1 free"])
  expect(await found("rankMin=2&kind=paid")).toEqual(["10005 2 paid", "10009 3 paid"])
  expect(await found("rankMin=3&genre=6015")).toEqual(["10009 3 paid"])
  await sql`delete from chart_results where chart_id in (select id from chart where chart = 'paid')`
  await rebuildCharts(sql, async () => {})
  expect(await found("rankMin=2")).toEqual(["10003 2 free", "10004 3 free"])
})

test("an app has its name in the storefront of the shown chart, and its current publisher", async () => {
  const recordApp = (at: string, storefront: string, app: object) =>
    charted(at, [], { storefront, apps: [{ id: "10042", ...app }], depth: 1, source: "apple-charts" })
  await record(
    sql,
    [
      recordApp("2025-08-30T06:00:00Z", "gb", { name: 'Tea "now"', developer: "Leaves", developerId: "71" }),
      recordApp("2025-08-30T06:00:00Z", "jp", { name: "お茶\u2028茶" }),
    ],
    () => NOW,
  )
  const named = async (query: string) => {
    const { name, publisher, publisherId } = (await ask(query)).body.apps[0]
    return { name, publisher, publisherId }
  }
  const leaves = { publisher: "Leaves", publisherId: "71" }
  expect(await named("country=jp")).toEqual({ name: "お茶\u2028茶", ...leaves })
  expect(await named("country=gb")).toEqual({ name: 'Tea "now"', ...leaves })
  expect(await named("country=jp,gb")).toEqual({ name: 'Tea "now"', ...leaves })
})
