import { beforeAll, expect } from "bun:test"
import type { Sql, Tx } from "../../src/database/types.ts"
import { listApps } from "../../src/overview/operations/apps.ts"
import { search } from "../../src/overview/operations/search.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { appsReading, ask, contextOf, NOW, newWorkspace, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

slow("an app is shown with its name in its first storefront, or with its id until that name is read", async () => {
  const workspaceId = await newWorkspace(sql)
  const track = (countries: string[], workspace: number) =>
    sql.begin((tx) =>
      trackApp(tx as Tx, { workspaceId: workspace, iosId: "40001", countries, keywords: ["weather"], origin: "own" }),
    )
  await track(["us", "jp"], workspaceId)
  const japanese = await newWorkspace(sql)
  await track(["jp"], japanese)
  const readName = async (workspace: number) => (await ask(listApps, contextOf(sql, workspace))).apps[0].name
  const findTitles = async (query: string) =>
    (await ask(search, contextOf(sql, workspaceId), { q: query })).results.map(({ title }: { title: string }) => title)
  expect(await readName(workspaceId)).toBe("40001")
  await record(
    sql,
    [reading("weather", "2025-11-18T10:00:00Z", [], { depth: 9, results: [{ id: "40001", name: "Clouds" }] })],
    () => NOW,
  )
  expect(await readName(workspaceId)).toBe("Clouds")
  const lookedUp = (storefront: string, minute: number, name: string) =>
    record(sql, [appsReading(`2025-11-19T10:0${minute}:00Z`, [{ id: "40001", name }], { storefront })], () => NOW)
  await lookedUp("us", 1, "Sky 100% 'Pro'")
  await lookedUp("jp", 2, "天気☀️")
  expect([await readName(workspaceId), await readName(japanese)]).toEqual(["Sky 100% 'Pro'", "天気☀️"])
  expect(await findTitles("sky 100%")).toContain("Sky 100% 'Pro'")
})
