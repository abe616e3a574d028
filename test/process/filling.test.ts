import { beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { record } from "../../src/observations/record.ts"
import { createFilling } from "../../src/process/filling.ts"
import { freshDatabase } from "../database.ts"
import { NOW, said } from "../observations/measured.ts"

const APPS = 250
let sql: Sql
beforeEach(async () => {
  sql = await freshDatabase()
  const apps = Array.from({ length: APPS }, (_, n) => ({ id: String(10_001 + n), name: `Tea ${n}` }))
  await record(sql, [said("2025-11-19T10:00:00Z", apps)], () => NOW)
  // as a database that an upgrade has just brought the table to
  await sql`truncate app_text`
})

const count = async () => (await sql<{ n: number }[]>`select count(*)::int as n from app_text`)[0]!.n
const isDone = async () => (await sql`select from instance where key = 'app_texts'`).length > 0

async function filled(): Promise<void> {
  const filling = createFilling({ sql, log: silentLog })
  filling.start()
  while (!(await isDone())) await Bun.sleep(5)
  await filling.stop()
}

test("names of before an upgrade are filled in by the first start after it, and by no other", async () => {
  await filled()
  expect(await count()).toBe(APPS)
  await sql`truncate app_text`
  await filled()
  expect(await count()).toBe(0)
  // of a formula that was since replaced
  await sql`update instance set value = '0' where key = 'app_texts'`
  const again = createFilling({ sql, log: silentLog })
  again.start()
  while ((await count()) < APPS) await Bun.sleep(5)
  await again.stop()
  expect(await count()).toBe(APPS)
})

test("a start that is stopped meanwhile leaves the rest to the next", async () => {
  const filling = createFilling({ sql, log: silentLog })
  filling.start()
  await filling.stop()
  expect([await count(), await isDone()]).toEqual([0, false])
  await filled()
  expect(await count()).toBe(APPS)
})
