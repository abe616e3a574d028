import { beforeEach, expect, test } from "bun:test"
import { join } from "node:path"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { deriveMonths, readMonths } from "../../../src/tracking/rank-months.ts"
import { addTerms } from "../../../src/tracking/terms.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { longOnServer } from "../../long.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { chartTables } from "./charted.ts"
import { EVERY_KIND } from "./kinds-recorder.ts"
import { NOW, newWorkspace, reading, stored } from "./measured.ts"

const PROCESSES = 4
let sql: Sql

beforeEach(async () => {
  if (process.env.DATABASE_URL) sql = await freshDatabase()
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: 4 processes that record and track the same terms concurrently store each row once",
  async () => {
    const workspaceId = await newWorkspace(sql)
    await trackOwn(sql, { workspaceId, iosId: "10005" })
    const children = Array.from({ length: PROCESSES }, (_, seed) =>
      Bun.spawn([process.execPath, join(import.meta.dirname, "recorder.ts"), scratchUrl(sql), String(seed)], {
        stderr: "pipe",
      }),
    )
    const ends = await Promise.all(
      children.map(
        async (child) =>
          [
            await child.exited,
            await new Response(child.stderr).text(),
            await new Response(child.stdout).text(),
          ] as const,
      ),
    )
    expect(ends.map(([code, errors]) => [code, errors])).toEqual(Array(PROCESSES).fill([0, ""]))
    const recorded = ends.reduce((sum, [, , count]) => sum + Number(count), 0)
    expect(recorded).toBe(240 + PROCESSES * 40)
    const [counts] = await sql`
      select (select count(*) from search_results) as readings,
        (select count(*) from list) as lists, (select max(id) from list) as "lastList",
        (select count(*) from store_app) as apps, (select max(id) from store_app) as "lastApp",
        (select count(*) from rank_month) as derived`
    expect(counts).toMatchObject({ readings: recorded, lists: 30, lastList: 30 })
    expect(counts?.apps).toBe(counts?.lastApp)
    expect(counts?.derived).toBeGreaterThan(20)
    await derivesToItself()
  },
  60_000,
)

longOnServer(
  "postgres: 4 processes that record readings of every kind concurrently store the same rows as one process",
  async () => {
    const children = Array.from({ length: PROCESSES }, (_, seed) =>
      Bun.spawn([process.execPath, join(import.meta.dirname, "kinds-recorder.ts"), scratchUrl(sql), String(seed)], {
        stderr: "pipe",
      }),
    )
    for (const child of children) expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""])
    const concurrent = await content()
    sql = await freshDatabase()
    for (let i = 0; i < EVERY_KIND.length; i += 50) await record(sql, EVERY_KIND.slice(i, i + 50), () => NOW)
    expect(concurrent).toEqual(await content())
    expect(concurrent.map((rows) => rows.length > 20)).toEqual(Array(9).fill(true))
    const [burnt] = await sql`select (select count(*) from store_app) as apps, (select max(id) from store_app) as last`
    expect(burnt?.apps).toBe(burnt?.last)
  },
  60_000,
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a reading is stored even if its transaction is aborted by a deadlock",
  async () => {
    await record(
      sql,
      ["a", "b"].map((term) => reading(term, "2025-11-01T10:00:00Z", [10001])),
      () => NOW,
    )
    const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>()
    const other = sql.begin(async (tx) => {
      await tx`set local deadlock_timeout = '20s'`
      await tx`select 1 from list where term = 'b' for update`
      hasLocked()
      // waits until the recorder has locked a and waits for b
      while (!(await blocksSomebody(tx))) await tx`select pg_sleep(0.01)`
      await tx`select 1 from list where term = 'a' for update`
    })
    await locked
    const readings = ["a", "b"].map((term) => reading(term, "2025-11-02T10:00:00Z", [10001]))
    expect((await record(sql, readings, () => NOW)).recorded).toBe(2)
    await other
    expect(await sql`select 1 from search_results`).toHaveLength(4)
  },
  60_000,
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a reading stored while its term is being tracked is in the history",
  async () => {
    const workspaceId = await newWorkspace(sql)
    const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: [], origin: "own" }
    const appId = await trackOwn(sql, tracked)
    const readingOn = (day: string) => reading("tea", `2025-11-0${day}T10:00:00Z`, [10001])
    await record(sql, [readingOn("1"), readingOn("3")], () => NOW)
    let recording: Promise<unknown> | undefined
    await sql.begin(async (tx) => {
      await addTerms(tx, appId, "all", ["tea"])
      let done = false
      recording = record(sql, [readingOn("2")], () => NOW).finally(() => {
        done = true
      })
      while (!done && !(await blocksSomebody(tx))) await tx`select pg_sleep(0.01)`
    })
    await recording
    const [month] = await sql<{ ranks: Uint8Array }[]>`select ranks from rank_month`
    expect([...(month as { ranks: Uint8Array }).ranks.slice(0, 4)]).toEqual([1, 1, 1, 255])
  },
)

async function blocksSomebody(tx: Tx): Promise<boolean> {
  const rows = await tx`select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`
  return rows.length > 0
}

/** Returns everything stored, by the stores' ids: surrogate ids depend on the order of recording. */
async function content(): Promise<object[][]> {
  const tables = await Promise.all([
    sql`
      select s.*, a.store_id, 0 as app_id
      from app_storefront s
      join store_app a on a.id = s.app_id
      order by a.store_id, s.storefront, s.source`,
    sql`
      select r.*, a.store_id, 0 as app_id
      from rating_count r
      join store_app a on a.id = r.app_id
      order by a.store_id, r.storefront, r.day, r.source`,
    sql`
      select store_id, seen_at
      from store_app
      order by store_id`,
    sql`
      select *
      from hint_answer
      order by prefix, day`,
    sql`
      select m.*, l.term, 0 as list_id
      from keyword_metric m
      join list l on l.id = m.list_id
      order by l.term`,
    sql`
      select v.*, a.store_id, 0 as app_id
      from review_version v
      join store_app a on a.id = v.app_id
      order by a.store_id, v.feed, v.review_id, v.digest`,
  ])
  const [, readings, places, , names] = (await chartTables(sql)) as object[][]
  return [...tables.map((rows) => [...rows]), readings!, places!, names!]
}

/** Expects that concurrent derivation missed nothing: deriving everything again changes nothing. */
async function derivesToItself(): Promise<void> {
  const before = await stored(sql)
  await sql.begin(async (tx) => {
    const lists = await tx<{ id: number }[]>`select id from list order by id`
    await deriveMonths(
      tx,
      await readMonths(
        tx,
        lists.map(({ id }) => id),
      ),
    )
  })
  expect(await stored(sql)).toBe(before)
}
