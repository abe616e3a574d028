import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { NewJob } from "../../../src/jobs/enqueue.ts"
import { claim, finish, markSent } from "../../../src/jobs/outbox-jobs.ts"
import { Fault, type FaultCode, type FaultExtra } from "../../../src/lib/faults.ts"
import { freshDatabase } from "../../database.ts"
import { bidJob, enqueued, letLeaseRunOut } from "../../jobs/enqueued.ts"
import { openService, type Service } from "../../service.ts"

let sql: Sql
let service: Service
let workspaceId: number
let key: string
let by: { workspaceId: number; keyId: number }

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspaceId = await service.workspace({ plan: "pro" })
  key = await service.key(workspaceId, { scopes: [] })
  by = { workspaceId, keyId: await newestKey() }
})

async function newestKey(): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select max(id) as id from api_key`
  return row!.id
}

const ask = (id: string, as = key) => service.call(`/v1/jobs/${id}`, { key: as })

/** Enqueues a job and claims it as a worker does. Returns its lease. */
async function begun(job: NewJob) {
  const id = await enqueued(sql, job)
  const [lease] = await claim(sql, { actions: [job.action], limit: 1, leaseMs: 30_000 })
  expect(lease?.id).toBe(id)
  return lease!
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe("states of a job", () => {
  test("a queued job shows what was confirmed, and nothing about a worker", async () => {
    const job = bidJob(by, { action: "queued_bid", appId: "app_tea" })
    const id = await enqueued(sql, job)
    const { status, body, credits } = await ask(id)
    expect(status).toBe(200)
    expect(body).toEqual({
      jobId: id,
      action: "queued_bid",
      summary: job.shown.summary,
      status: "queued",
      target: { kind: "keyword", id: job.target, name: "tea" },
      appId: "app_tea",
      attempts: 0,
      createdAt: expect.stringMatching(ISO),
      startedAt: null,
      finishedAt: null,
      result: null,
      error: null,
      steps: [],
      findings: [],
      note: null,
      requestId: job.requestId,
    })
    expect(credits.used).toBe(0)
  })

  test("a running job becomes done with its result", async () => {
    const lease = await begun(bidJob(by))
    const running = await ask(lease.id)
    expect(running.body).toMatchObject({ status: "running", attempts: 1, finishedAt: null, result: null })
    expect(running.body.startedAt).toMatch(ISO)
    await markSent(sql, lease, 30_000)
    expect((await ask(lease.id)).body).toEqual(running.body)
    await finish(sql, lease, { status: "done", result: { bid: 2, currency: "EUR" } })
    const { body } = await ask(lease.id)
    expect(body).toMatchObject({ status: "done", result: { bid: 2, currency: "EUR" }, error: null, note: null })
    expect(body.finishedAt).toMatch(ISO)
    expect(body.startedAt).toBe(running.body.startedAt)
  })

  const faults: [FaultCode, FaultExtra][] = [
    ["asc_rejected", { detail: "The reply is too long." }],
    ["asc_unavailable", {}],
    ["changed_since_preview", {}],
    ["internal_error", {}],
    ["localize_quota", { limit: 5, used: 5, period: "month" }],
  ]
  test("a failed job shows the error code and the error's fields, as a refused call does", async () => {
    for (const [code, extra] of faults) {
      const lease = await begun(bidJob(by))
      const fault = new Fault(code, extra)
      await finish(sql, lease, { status: "failed", fault })
      const { body } = await ask(lease.id)
      expect(body).toMatchObject({ status: "failed", result: null, note: null })
      expect(body.error).toEqual({ error: code, message: fault.message, ...extra })
    }
  })

  test("a job that failed for a reason unknown to this version shows internal_error without other fields", async () => {
    const lease = await begun(bidJob(by))
    await finish(sql, lease, { status: "failed", fault: new Fault("asc_rejected") })
    await sql`
      update job
      set error = '{"error": "toString", "stack": "secret", "detail": "secret"}'
      where id = ${lease.id}`
    const { body, text } = await ask(lease.id)
    expect(body.error.error).toBe("internal_error")
    expect(text).not.toContain("secret")
  })

  test("a job in the state unknown explains that it may have been applied and what to do", async () => {
    const lease = await begun(bidJob(by))
    await markSent(sql, lease, 30_000)
    await finish(sql, lease, { status: "unknown", why: new Error("canary") })
    const { body, text } = await ask(lease.id)
    expect(body).toMatchObject({ status: "unknown", result: null, error: null })
    expect(body.note).toMatch(/may or may not have been applied.*never tried again.*preview the action anew/)
    expect(text).not.toContain("canary")
    expect(text).not.toContain(lease.lease)
  })

  test("a job of a worker without a heartbeat is shown as running until another worker has checked it", async () => {
    const lease = await begun(bidJob(by))
    await letLeaseRunOut(sql, lease.id)
    expect((await ask(lease.id)).body.status).toBe("running")
  })
})

describe("access to jobs", () => {
  test("another workspace's job gets the same response as a missing job, free of charge", async () => {
    const other = await service.workspace({ plan: "enterprise" })
    const stranger = await service.key(other)
    const id = await enqueued(sql, bidJob(by))
    const [real, never] = [await ask(id, stranger), await ask("job_neverexisted", stranger)]
    expect(real.status).toBe(404)
    expect(real.body.error).toBe("job_not_found")
    expect(real.text).toBe(never.text)
    expect(real.credits).toEqual(never.credits)
    expect((await ask(id)).status).toBe(200)
  })

  test("a key limited to an app sees only the jobs of that app, and other jobs appear to be missing", async () => {
    const limited = await service.key(workspaceId)
    await sql`update api_key set app_list = '{app_mine,app_ours}' where id = ${await newestKey()}`
    const about = async (appId: string | null) => enqueued(sql, bidJob(by, { appId }))
    const [ownJob, foreign, nobodys] = [await about("app_mine"), await about("app_theirs"), await about(null)]
    expect((await ask(ownJob, limited)).body.jobId).toBe(ownJob)
    const never = await ask("job_neverexisted", limited)
    for (const id of [foreign, nobodys]) {
      const hidden = await ask(id, limited)
      expect([hidden.status, hidden.text]).toEqual([404, never.text])
      expect((await ask(id)).status).toBe(200)
    }
  })

  test("a key limited to apps sees a job without an app if it started that job", async () => {
    const limited = await service.key(workspaceId)
    const keyId = await newestKey()
    await sql`update api_key set app_list = '{app_mine}' where id = ${keyId}`
    const id = await enqueued(sql, bidJob({ workspaceId, keyId }, { appId: null }))
    expect((await ask(id, limited)).status).toBe(200)
    const off = await enqueued(sql, bidJob({ workspaceId, keyId }, { appId: "app_theirs" }))
    expect((await ask(off, limited)).body.error).toBe("job_not_found")
  })

  test("get_job needs a key, but no scope and no credits", async () => {
    const poor = await service.workspace({ plan: "pro", overrides: { credits: 0 } })
    const none = await service.key(poor, { scopes: [] })
    const id = await enqueued(sql, bidJob({ workspaceId: poor, keyId: await newestKey() }))
    expect((await ask(id, none)).status).toBe(200)
    expect((await service.call(`/v1/jobs/${id}`)).body.error).toBe("missing_api_key")
  })

  test("malformed job ids are refused as invalid_arguments, and unknown job ids as job_not_found", async () => {
    for (const id of ["x".repeat(65), "%00", "%ED%A0%80"]) expect((await ask(id)).body.error).toBe("invalid_arguments")
    for (const id of ["*", "%25", "x".repeat(64), "😀"]) expect((await ask(id)).body.error).toBe("job_not_found")
    expect((await service.call("/v1/jobs/x?appId=app_tea", { key })).body).toMatchObject({ field: "appId" })
  })
})

describe("the sandbox", () => {
  test("the sandbox has one job about its own app, and test keys get exactly the same response", async () => {
    const path = "/jobs/job_5kQ2vR8nWc0TzLmY3aXd"
    const sandbox = await service.call(`/v1/sandbox${path}`)
    expect(sandbox.body).toMatchObject({ status: "done", appId: "app_lumenjournal" })
    const testKey = await service.key(workspaceId, { kind: "test" })
    expect((await service.call(`/v1${path}`, { key: testKey })).text).toBe(sandbox.text)
    const other = await enqueued(sql, bidJob(by))
    expect((await ask(other, testKey)).body.error).toBe("job_not_found")
    expect((await service.call("/v1/sandbox/jobs/job_other")).body.error).toBe("job_not_found")
  })
})
