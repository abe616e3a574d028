import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { openService } from "../service.ts"
import { newStoreId, trackOwn } from "../world/app.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

async function track(workspaceId: number, count: number, name: string): Promise<string[]> {
  const ids: string[] = []
  for (let number = 1; number <= count; number++)
    ids.push(await trackOwn(sql, { workspaceId, name: `${name} ${number}`, iosId: newStoreId() }))
  return ids
}

test("an unknown app id is refused with the first ten ids of the caller's own apps, by REST and by tool", async () => {
  const service = openService({ sql })
  const [workspace, other] = [await service.workspace({ plan: "pro" }), await service.workspace({ plan: "pro" })]
  const ids = await track(workspace, 11, "Harbor Watch")
  const [theirId] = await track(other, 1, "Secret Project")
  const key = await service.key(workspace)
  const { status, body } = await service.call("/v1/apps/Lumen%20Journal", { key })
  expect([status, body.error]).toEqual([404, "not_found"])
  for (const id of ids.slice(0, 10)) expect(body.detail).toContain(`${id} (Harbor Watch `)
  expect(body.detail).not.toContain(ids[10])
  expect(body.detail).toContain("list_apps")
  expect(body.detail).not.toContain("Secret Project")
  const foreign = await service.call(`/v1/apps/${theirId}`, { key })
  expect(foreign.body).toEqual(body)
  const tool = await service.tool("get_app", { appId: "Lumen" }, { key })
  expect(JSON.stringify(tool)).toContain(ids[0] as string)
})

test("a workspace without apps gets a refusal that explains how to add one", async () => {
  const service = openService({ sql })
  const key = await service.key(await service.workspace({ plan: "pro" }))
  expect((await service.call("/v1/apps/x", { key })).body.detail).toBe(
    "The workspace tracks no app yet; add_app adds one.",
  )
})

test("a refusal for a key limited to some apps contains no id of another app", async () => {
  const service = openService({ sql })
  const workspace = await service.workspace({ plan: "pro" })
  const [first, removedApp] = (await track(workspace, 3, "Tide Clock")) as [string, string]
  const key = await service.key(workspace, { appList: [first, removedApp] })
  await sql`delete from tracked_app where id = ${removedApp}`
  expect((await service.call(`/v1/apps/${removedApp}`, { key })).body.detail).toBe(
    `App ids of this key: ${first} (Tide Clock 1).`,
  )
})
