import { beforeAll, beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { listAudit } from "../../src/writes/audit.ts"
import { freshDatabase } from "../database.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

let sql: Sql
let service: Service
let workspace: number
let key: string
let app: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

beforeEach(async () => {
  workspace = await service.workspace()
  key = await service.key(workspace, { name: "writer" })
  app = await tracked(workspace)
})

const tracked = (workspaceId: number, iosId = "1437843273") =>
  trackOwn(sql, { workspaceId, iosId, name: "Kettle", keywords: ["tea"] })
const post = (path: string, body: object, by = key) => service.call(path, { key: by, method: "POST", body })

async function applied(action: string, args: object, by = key): Promise<Answer> {
  const { confirmToken } = (await post("/v1/actions", { action, args }, by)).body
  return await post("/v1/actions/confirm", { confirmToken }, by)
}

const rows = (options: { appId?: string; limit?: number } = {}) =>
  listAudit(sql, { workspaceId: workspace, rights: null, limit: 50, ...options })

test("the audit lists who wrote what and when, with the request that confirmed it", async () => {
  const { body, headers } = await applied("add_keywords", { appId: app, keywords: ["coffee"] })
  const [{ at, workspace: name, key: by, ...row }, ...rest] = (await rows()) as [Awaited<ReturnType<typeof rows>>[0]]
  expect(rest).toEqual([])
  expect(at.toISOString()).toBe(body.appliedAt)
  expect(name).toMatch(/^workspace /)
  expect(by).toEqual({ id: expect.any(Number), name: "writer", hint: `svc_live_…${key.slice(-4)}` })
  expect(row).toEqual({
    action: "add_keywords",
    target: `app ${app}`,
    appId: app,
    summary: 'Track 1 keyword of "Kettle" in the US.',
    credits: 1,
    requestId: headers.get("x-request-id")!,
    jobId: null,
    approvedBy: null,
  })
})

test("the audit does not list previews, refused confirms or unchanged writes", async () => {
  await post("/v1/actions", { action: "remove_keywords", args: { appId: app, keywords: ["tea"] } })
  expect((await applied("add_keywords", { appId: app, keywords: ["tea"] })).body.status).toBe("unchanged")
  const poor = await service.key(workspace, { monthlyBudget: 0 })
  expect((await applied("add_keywords", { appId: app, keywords: ["coffee"] }, poor)).status).toBe(402)
  expect(await rows()).toEqual([])
})

test("the audit lists the newest rows first up to the limit, even among rows with the same time", async () => {
  for (const term of ["a", "b", "c"]) await applied("add_keywords", { appId: app, keywords: [term] })
  await sql`
    insert into audit (at, workspace_id, key_id, request_id, action, scope, target, args, preview, credits)
    select max(at), ${workspace}, min(key_id), n::text, 'sample', 'track:write', 'sample', '{}',
      '{"summary": "Sample."}', 0
    from audit, generate_series(1, 2) n
    where workspace_id = ${workspace}
    group by n
    order by n`
  const listed = await rows()
  expect(listed.slice(0, 2).map(({ requestId }) => requestId)).toEqual(["2", "1"])
  expect(listed).toHaveLength(5)
  expect(await rows({ limit: 4 })).toEqual(listed.slice(0, 4))
  expect(listed.map(({ at }) => at.getTime())).toEqual(listed.map(({ at }) => at.getTime()).sort((a, b) => b - a))
})

test("the audit can be limited to one app, including an app added by a write or deleted since", async () => {
  const { appId } = (await applied("add_app", { iosId: "389801252" })).body.result
  await applied("remove_keywords", { appId: app, keywords: ["tea"] })
  await sql`delete from tracked_app where id = ${app}`
  expect((await rows({ appId })).map(({ action }) => action)).toEqual(["add_app"])
  expect((await rows({ appId: app })).map(({ action }) => action)).toEqual(["remove_keywords"])
  expect(await rows({ appId: "app_nowhere" })).toEqual([])
})

test("the audit never lists another workspace's writes, even by the id of its app", async () => {
  await applied("add_keywords", { appId: app, keywords: ["coffee"] })
  workspace = await service.workspace()
  expect([await rows(), await rows({ appId: app })]).toEqual([[], []])
})
