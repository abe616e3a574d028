import { beforeAll, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { enqueue, hasUnfinished } from "../../src/jobs/enqueue.ts"
import { storable } from "../../src/lib/storable.ts"
import { outcomeOf } from "../access/registered.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { bidJob, enqueued, jobRow, owner } from "./enqueued.ts"

let sql: Sql
let by: { workspaceId: number; keyId: number }

beforeAll(async () => {
  sql = await freshDatabase()
  by = await owner(sql)
})

const jobs = async () => (await sql<{ n: number }[]>`select count(*) as n from job`)[0]!.n

test("a job exists only if the transaction that confirms it commits", async () => {
  const before = await jobs()
  const job = bidJob(by)
  const refused = await errorOf(
    sql.begin(async (tx) => {
      await enqueue(tx, job, randomBytes)
      expect(await hasUnfinished(tx, by.workspaceId, job.target)).toBe(true)
      throw new Error("the charge was refused")
    }),
  )
  expect(String(refused)).toContain("the charge was refused")
  expect(await jobs()).toBe(before)
  const id = await enqueued(sql, job)
  expect(id).toMatch(/^job_[\w-]{20}$/)
  expect(await jobs()).toBe(before + 1)
  expect(await jobRow(sql, id)).toMatchObject({ status: "queued", attempts: 0, sent_at: null, lease: null })
})

test("only one of fifty concurrent jobs for a target is enqueued, and the other jobs get in_progress", async () => {
  const job = bidJob(by)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(enqueued(sql, job))))
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1)
  expect(outcomes.filter((outcome) => outcome === "in_progress")).toHaveLength(49)
  const rows = await sql`select id from job where target = ${job.target}`
  expect(rows).toHaveLength(1)
})

test("jobs for different targets or workspaces can be enqueued at the same time", async () => {
  const [job, other] = [bidJob(by), await owner(sql)]
  const all = [job, bidJob(by), { ...job, ...other }]
  expect(await Promise.all(all.map((newJob) => outcomeOf(enqueued(sql, newJob))))).toEqual(["ok", "ok", "ok"])
})

test("a target is free again after its job has ended, whatever the outcome", async () => {
  const job = bidJob(by)
  const isUnfinished = () => sql.begin((tx) => hasUnfinished(tx, by.workspaceId, job.target))
  for (const status of ["done", "failed", "unknown"]) {
    const id = await enqueued(sql, job)
    expect(await outcomeOf(enqueued(sql, job))).toBe("in_progress")
    expect(await isUnfinished()).toBe(true)
    const error = status === "failed" ? sql.json({ error: "asc_rejected" }) : null
    await sql`
      update job set status = ${status}, sent_at = now(), finished_at = now(), error = ${error} where id = ${id}`
    expect(await isUnfinished()).toBe(false)
  }
})

test("characters that jsonb refuses are stored as replacement characters", () => {
  const odd = { "a\u0000": ["\ud800 \udc00", "😀", "\\u0000", "\\\\ud800", '"\u0000"', "\n\u2028"], gone: undefined }
  expect(storable(odd)).toEqual({
    "a\ufffd": ["\ufffd \ufffd", "😀", "\\u0000", "\\\\ud800", '"\ufffd"', "\n\u2028"],
  })
  expect(storable(undefined)).toBe(null)
  expect(storable({ at: new Date(0) })).toEqual({ at: "1970-01-01T00:00:00.000Z" })
})

test("the args and before values of a job are stored with their nulls", async () => {
  const args = { target: "x", bid: 1.25, list: [], deep: { a: null, b: "\u0000" } }
  const id = await enqueued(sql, bidJob(by, { args, before: undefined }))
  const [row] = await sql`select args, before, before is null as nothing from job where id = ${id}`
  expect(row).toEqual({ args: { ...args, deep: { a: null, b: "\ufffd" } }, before: null, nothing: true })
})
