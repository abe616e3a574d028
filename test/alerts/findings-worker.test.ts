import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { createFindings, type FindingsOptions } from "../../src/alerts/findings-worker.ts"
import type { Sql, Tx } from "../../src/database/types.ts"
import { createLog, silentLog } from "../../src/lib/log.ts"
import { someWorkspace } from "../access/registered.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(30_000)

let sql: Sql
let found: string[]
let count = 0

beforeAll(async () => {
  sql = await freshDatabase()
})
// a database with a changed schema is created again for the next file
afterAll(async () => void (await sql`drop table if exists effect`))

beforeEach(async () => {
  await sql`delete from tracked_app`
  await sql`delete from due`
  found = []
})

const find: FindingsOptions["find"] = async (_, subjects) => void found.push(...subjects.map(({ subject }) => subject))

const worker = (options: Partial<FindingsOptions> = {}) =>
  createFindings({ sql, log: silentLog, random: () => 1, find, ...options })

async function track(iosId: string): Promise<void> {
  const { id: workspaceId } = await someWorkspace(sql, { name: `findings ${++count} ${process.pid}` })
  await trackOwn(sql, { workspaceId, iosId })
  await sql`delete from due where kind <> 'findings'`
}

const row = async (subject: string) =>
  (await sql`select *, next_at > now() + interval '1 minute' as rests from due where subject = ${subject}`)[0]

slow("due findings are derived once by any number of workers, and are due again the next day", async () => {
  for (const id of ["90001", "90002", "90003"]) await track(id)
  const claims = await Promise.all([worker(), worker(), worker()].map((instance) => instance.runOnce()))
  expect(claims.reduce((sum, claimed) => sum + claimed)).toBe(3)
  expect(found.sort()).toEqual(["90001", "90002", "90003"])
  expect(await row("90001")).toMatchObject({ lease: null, failures: 0, rests: true, measured_at: expect.any(Date) })
  expect(await worker().runOnce()).toBe(0)
})

test("findings that fail are logged once and retried later, and do not affect other findings", async () => {
  await sql`create table if not exists effect (of text not null)`
  for (const id of ["90001", "90002"]) await track(id)
  const logged: string[] = []
  const failFor: FindingsOptions["find"] = async (tx: Tx, [place]) => {
    await tx`insert into effect (of) values (${place!.subject})`
    if (place!.subject === "90001") throw new Error("broken")
  }
  const log = createLog((line) => void logged.push(line))
  await worker({ find: failFor, log }).runOnce()
  expect([...(await sql`select of from effect`)]).toEqual([{ of: "90002" }])
  expect(await row("90001")).toMatchObject({ lease: null, failures: 1, failure: "failed", measured_at: null })
  expect(logged.map((line) => JSON.parse(line)).map(({ event, level }) => [event, level])).toEqual([
    ["findings_failed", "error"],
  ])
})

test("a worker that lost its lease stores nothing, and the next worker stores the findings once", async () => {
  await sql`create table if not exists effect (of text not null)`
  await sql`delete from effect`
  await track("90001")
  const slow: FindingsOptions["find"] = async (tx: Tx) => {
    await tx`update due set lease_until = now() - interval '1 ms' where subject = '90001'`
    await tx`insert into effect (of) values ('late')`
  }
  await worker({ find: slow }).runOnce()
  expect(await sql`select 1 from effect`).toHaveLength(0)
  await sql`update due set lease_until = now() - interval '1 ms' where lease is not null`
  await worker({ random: () => 0 }).runOnce()
  expect(found).toEqual(["90001"])
})

test("findings of an app that is no longer tracked are deleted from the queue without being derived", async () => {
  await track("90001")
  await sql`delete from tracked_app`
  await worker().runOnce()
  expect([found, await row("90001")]).toEqual([[], undefined])
})
