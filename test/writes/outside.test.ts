import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import { outsideWrites } from "../../src/core/action.ts"
import type { Operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { createOutbox, type Outbox } from "../../src/jobs/outbox.ts"
import { silentLog } from "../../src/lib/log.ts"
import { writeOperations } from "../../src/writes/operations/writes.ts"
import { freshDatabase } from "../database.ts"
import { type Platform, standIn } from "../jobs/platform.ts"
import { setBid } from "../jobs/set-bid.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

// A complete write to another platform against a stand-in that records requests: preview, confirm, job, get_job.

let sql: Sql
let service: Service
let platform: Platform
let worker: Outbox
let workspace: number
let key: string
let app: string
let target: string
let count = 0

beforeAll(async () => {
  sql = await freshDatabase()
  platform = standIn()
  const writes = [...actions, setBid(platform.url)]
  const writing = new Map<string, Operation>(writeOperations(writes).map((operation) => [operation.id, operation]))
  service = openService({ sql, catalog: catalog.map((operation) => writing.get(operation.id) ?? operation) })
  worker = createOutbox({ sql, kinds: outsideWrites(writes), log: silentLog, retry: { baseMs: 1, capMs: 1 } })
})

afterAll(() => platform.stop())

beforeEach(async () => {
  workspace = await service.workspace({ plan: "studio" })
  key = await service.key(workspace)
  const tracked = { workspaceId: workspace, iosId: "1437843273", countries: ["us"], keywords: [], origin: "own" }
  app = await trackOwn(sql, tracked)
  target = `keyword-${++count}`
  platform.on("GET")
  platform.on("PUT")
})

const post = (path: string, body: object) => service.call(path, { key, method: "POST", body })
const preview = async (bid = 2) =>
  (await post("/v1/actions", { action: "set_bid", args: { appId: app, target, bid } })).body
const confirm = (confirmToken: string) => post("/v1/actions/confirm", { confirmToken })
const job = async (id: string) => (await service.call(`/v1/jobs/${id}`, { key })).body
const used = async () => (await service.call("/v1/account", { key })).body.credits.used

test("a confirmed write to another platform becomes one job, sent once, whose outcome can be read", async () => {
  const previewed = await preview()
  expect(previewed).toMatchObject({
    asynchronous: true,
    preview: { before: { bid: 1 }, after: { bid: 2 } },
    credits: 2,
  })
  const { body } = await confirm(previewed.confirmToken)
  expect(body).toMatchObject({ status: "queued", appliedAt: null, result: null, credits: 2 })
  expect(await job(body.jobId)).toMatchObject({ status: "queued", action: "set_bid", appId: app, finishedAt: null })
  expect(platform.writes(target)).toEqual([])
  await worker.runOnce()
  expect(await job(body.jobId)).toMatchObject({ status: "done", result: { bid: 2 }, error: null, attempts: 1 })
  expect(platform.writes(target)).toMatchObject([{ idempotencyKey: body.jobId }])
  expect(await used()).toBe(2)
  expect(await sql`select job_id, result from audit where workspace_id = ${workspace}`).toMatchObject([
    { job_id: body.jobId, result: null },
  ])
})

test("a change on the platform before the confirm is a mismatch, and a later change fails the unsent job", async () => {
  const early = await preview()
  platform.bids.set(target, 5)
  const refused = await confirm(early.confirmToken)
  expect([refused.status, refused.body.error, refused.body.preview.before]).toEqual([
    409,
    "confirm_token_mismatch",
    { bid: 5 },
  ])
  const { body } = await confirm((await preview()).confirmToken)
  platform.bids.set(target, 7)
  await worker.runOnce()
  expect(await job(body.jobId)).toMatchObject({ status: "failed", error: { error: "changed_since_preview" } })
  expect(platform.writes(target)).toEqual([])
})

test("a failed job applied nothing, and its credits are returned once", async () => {
  platform.on("PUT", () => new Response(null, { status: 422 }))
  const { body } = await confirm((await preview()).confirmToken)
  expect(await used()).toBe(2)
  await worker.runOnce()
  expect(await job(body.jobId)).toMatchObject({ status: "failed", error: { error: "asc_rejected" } })
  expect(await used()).toBe(0)
  await worker.runOnce()
  expect(await sql`select cost from ledger where workspace_id = ${workspace} order by id`).toMatchObject([
    { cost: 2 },
    { cost: -2 },
  ])
})

test("an interrupted write gets the state unknown, stays charged and is never sent again", async () => {
  platform.on("PUT", () => new Response(null, { status: 500 }))
  const { body } = await confirm((await preview()).confirmToken)
  await worker.runOnce()
  platform.on("PUT")
  await worker.runOnce()
  expect(await job(body.jobId)).toMatchObject({ status: "unknown", note: expect.stringContaining("never tried again") })
  expect(platform.writes(target)).toHaveLength(1)
  expect(await used()).toBe(2)
})

test("a confirm on a target with an unfinished job gets in_progress, and its token works afterwards", async () => {
  const [first, second] = [await preview(2), await preview(3)]
  const { body } = await confirm(first.confirmToken)
  const refused = await confirm(second.confirmToken)
  expect([refused.status, refused.body.error]).toEqual([409, "in_progress"])
  platform.on("PUT", () => new Response(null, { status: 422 }))
  await worker.runOnce()
  expect((await job(body.jobId)).status).toBe("failed")
  expect((await confirm(second.confirmToken)).body.status).toBe("queued")
})

test("a preview is refused with the reason if the platform cannot be reached, and nothing is stored", async () => {
  platform.on("GET", () => new Response(null, { status: 500 }))
  expect((await preview()).error).toBe("asc_unavailable")
  expect(await sql`select 1 from confirm_token where workspace_id = ${workspace}`).toHaveLength(0)
})
