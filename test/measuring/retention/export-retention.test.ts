import { beforeAll, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { removeOld } from "../../../src/measuring/retention/remove-old.ts"
import type { RetentionDays } from "../../../src/measuring/retention/tables.ts"
import { RETENTION } from "../../../src/recording.ts"
import { findExport } from "../../../src/sharing/export/store.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { owner } from "../../jobs/enqueued.ts"
import { slow } from "../../long.ts"
import { largeExport } from "../../sharing/large-export.ts"

setDefaultTimeout(60_000)

const FOR_EVER: RetentionDays = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }

let sql: Sql
let workspace: number

beforeAll(async () => {
  sql = await freshDatabase()
  workspace = (await owner(sql)).workspaceId
})

const countRemaining = async () => {
  const [row] = await sql<{ exports: number; parts: number }[]>`
    select (select count(*) from export) as exports, (select count(*) from export_part) as parts`
  return { ...row! }
}

slow("an export is deleted with all its parts a day after its link has expired, and not earlier", async () => {
  const [old, expired, young] = [
    await largeExport(sql, workspace, 25),
    await largeExport(sql, workspace, 2),
    await largeExport(sql, workspace, 3),
  ]
  const [first, second] = await sql<{ id: number }[]>`select id from export order by id`
  await sql`update export set created_at = now() - interval '8 days 1 s' where id = ${first!.id}`
  await sql`update export set created_at = now() - interval '7 days 23:59' where id = ${second!.id}`
  const removed = await removeOld(sql, RETENTION, FOR_EVER, { chunk: 50, pauseMs: 0 })
  expect([removed.export, removed.export_part]).toEqual([1, 25])
  expect(await countRemaining()).toEqual({ exports: 2, parts: 5 })
  expect(await findExport(sql, old.token)).toBeNull()
  expect(await findExport(sql, expired.token)).toBe("expired")
  expect(await findExport(sql, young.token)).toMatchObject({ rows: young.rows })
  const repeated = await removeOld(sql, RETENTION, FOR_EVER, { chunk: 50, pauseMs: 0 })
  expect([repeated.export, repeated.export_part]).toEqual([0, 0])
})

slow("the next clean-up deletes the rest of an export whose deletion was interrupted", async () => {
  await deleteRows(sql, "export_part", "export")
  await largeExport(sql, workspace, 12)
  await sql`update export set created_at = now() - interval '9 days'`
  const stopping = new AbortController()
  const cut = new Proxy(sql, {
    get(target, name) {
      if (name !== "begin") return Reflect.get(target, name)
      return async (work: never) => {
        const done = (await target.begin(work)) as { removed: number } | null
        if (done && done.removed > 0) stopping.abort()
        return done
      }
    },
  })
  await removeOld(cut, RETENTION, FOR_EVER, { chunk: 50, pauseMs: 0, signal: stopping.signal })
  expect(await countRemaining()).toEqual({ exports: 1, parts: 7 })
  await removeOld(sql, RETENTION, FOR_EVER, { chunk: 50, pauseMs: 0 })
  expect(await countRemaining()).toEqual({ exports: 0, parts: 0 })
})
