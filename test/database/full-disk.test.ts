import { afterAll, afterEach, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createDiskWatch } from "../../src/database/disk.ts"
import { freeBytes } from "../../src/database/embedded/disk-space.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import type { Db, Sql } from "../../src/database/types.ts"
import type { Log } from "../../src/lib/log.ts"
import { answer, serving } from "../commands/child.ts"
import { until } from "../jobs/platform.ts"
import { isQuick, LONG } from "../long.ts"

setDefaultTimeout(120_000)

const MEGABYTE = 2 ** 20
const SIZE = 192 * MEGABYTE

/** Mounts a small file system. Null if this user has no right to mount one. */
function smallDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-small-"))
  const { exitCode } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", folder])
  if (exitCode === 0) return folder
  rmSync(folder, { recursive: true })
  return null
}

const disk = process.platform === "linux" ? smallDisk() : null
const onSmallDisk = test.skipIf(isQuick || disk === null)
afterEach(() => {
  for (const name of disk === null ? [] : readdirSync(disk)) rmSync(join(disk!, name), { recursive: true })
})
afterAll(() => {
  if (disk === null) return
  Bun.spawnSync(["umount", "-l", disk])
  rmSync(disk, { recursive: true, force: true })
})

test.skipIf(!LONG || disk === null)(
  "on a full disk, priced calls get 503 and free calls work; priced calls work again once there is room",
  async () => {
    const env = { DATA_DIR: join(disk!, "data"), MEASURE: "no" }
    await answer(["workspace", "create", "tea", "--plan", "enterprise"], { env })
    const { secret: key } = await answer(["key", "create"], { env })
    await answer(["app", "add", "Tea", "--ios", "1234567890", "--keyword", "tea"], { env })
    const server = await serving({ env })
    const headers = { authorization: `Bearer ${key}` }
    const call = async (path: string) => {
      const answer = await fetch(server.url + path, { headers })
      return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: await answer.json() }
    }
    const { body } = await call("/v1/apps")
    const priced = `/v1/apps/${body.apps[0].id}/keywords`
    expect((await call(priced)).status).toBe(200)

    const fill = join(disk!, "fill")
    try {
      writeFileSync(fill, new Uint8Array(SIZE))
    } catch {} // The write fails once the disk is full, as intended.
    for (let i = 0; i < 60; i++) {
      await Bun.sleep(70) // Within the key's rate limit.
      const { status, retryAfter, body } = await call(priced)
      expect([200, 503]).toContain(status)
      if (status === 503) expect([body.error, Number(retryAfter) > 0]).toEqual(["unavailable", true])
    }
    await until(async () => (await call("/readyz")).status === 503)
    expect((await call("/readyz")).body).toEqual({ status: "not ready", reason: "disk_full" })
    expect((await call(priced)).status).toBe(503)
    for (const free of ["/v1/account", "/v1/sandbox/apps", "/livez", "/v1/openapi.json"])
      expect([free, (await fetch(server.url + free, { headers })).status]).toEqual([free, 200])

    rmSync(fill)
    await until(async () => (await call("/readyz")).status === 200)
    expect((await call(priced)).status).toBe(200)
    server.kill()
    expect(await server.exited).toBe(0)
    const lines = server.err().trim().split("\n")
    const logged = lines
      .map((line) => JSON.parse(line))
      .filter(({ level, event }) => level !== "info" || /disk/.test(event))
    const events = logged.map(({ event }) => event)
    // Each worker also logs once that its work was interrupted.
    expect(new Set(events).size).toBe(events.length)
    expect(events).toContain("disk_recovered")
    expect(logged.find(({ event }) => event === "disk_full").reason).toContain("free some")
  },
)

/**
 * Varies whether the file of a table or the next file of the log meets the full disk first: the amounts differ by 16
 * MB.
 */
const takeRoom = async () => writeFileSync(join(disk!, "taken"), new Uint8Array(16 * MEGABYTE))

const FILLS: [string, (sql: Sql) => Promise<unknown>][] = [
  ["one statement", (sql: Sql) => grow(sql, 300_000)],
  ["one statement, with 16 MB less space", (sql: Sql) => takeRoom().then(() => grow(sql, 300_000))],
  ["one transaction of many", (sql: Sql) => sql.begin(async (tx) => manyTimes(() => grow(tx, 1_000)))],
  ["many transactions", (sql: Sql) => manyTimes(() => sql.begin((tx) => grow(tx, 1_000)))],
]

onSmallDisk.each(LONG ? FILLS : FILLS.slice(-1))(
  "a write that would fill the disk is rolled back with the reason, and the database continues: %s",
  async (_, fill) => {
    const events: string[] = []
    const log: Log = (_level, event) => void events.push(event)
    const { sql, close } = await openEmbedded({ dataDir: join(disk!, "grown"), as: "server", log })
    try {
      await sql`create table grown (n int, text text)`
      await grow(sql, 10)
      const refused = await fill(sql).then(
        () => ({ code: "none" }),
        (error) => error as { code: string },
      )
      // The guard may have checked between two transactions.
      expect(["53100", "25006"]).toContain(refused.code)
      const [row] = await sql<{ n: number; odd: number }[]>`
      select count(*)::int as n, (count(*) filter (where length(text) <> 1920))::int as odd
      from grown`
      expect([row!.n % 1_000, row!.odd]).toEqual([10, 0])
      // A write either succeeds or is refused with a message, and the database does not end.
      const { code } = await sql`update grown set n = -n where n = 7`.catch((error) => error)
      expect([undefined, "25006", "53100"]).toContain(code)
      expect(events.filter((event) => event.startsWith("database_"))).toEqual([])
    } finally {
      await close()
    }
  },
)

onSmallDisk("a database on an almost full disk opens after a crash and can be read", async () => {
  const options = { dataDir: join(disk!, "crashed"), as: "command", log: () => {} } as const
  const first = await openEmbedded(options)
  await first.sql`create table grown (n int, text text)`
  await grow(first.sql, 5_000)
  // The writes since the last checkpoint are only in the log.
  await first.backend!.cut(new Error("killed"))
  await first.close().catch(() => {})
  writeFileSync(join(disk!, "taken"), new Uint8Array(freeBytes(disk!) - 30 * MEGABYTE))
  const reopened = await openEmbedded(options)
  try {
    expect([...(await reopened.sql`select count(*)::int as n from grown`)]).toEqual([{ n: 5_000 }])
    expect((await grow(reopened.sql, 5_000).catch((error) => error)).code).toBe("53100")
  } finally {
    await reopened.close()
  }
})

/**
 * Inserts rows of 2 KB, because PostgreSQL does not compress shorter ones. The insert is fast, because a statement may
 * take at most 15 s.
 */
async function grow(sql: Db, rows: number): Promise<void> {
  await sql`
    insert into grown
    select n, repeat(md5(n::text), 60)
    from generate_series(1, ${rows}::int) n`
}

async function manyTimes(write: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 300; i++) await write()
}

test("a disk is treated as full for ten seconds after the last failed write, and is logged once", () => {
  const events: string[] = []
  let now = 0
  const watch = createDiskWatch(
    (_level, event) => void events.push(event),
    "make room there",
    () => now,
  )
  expect(watch.isFull()).toBe(false)
  for (; now < 30_000; now += 3_000) watch.noteFull()
  expect([watch.isFull(), events]).toEqual([true, ["disk_full"]])
  now += 10_000
  expect(watch.isFull()).toBe(false)
  watch.reportSpace(true)
  watch.reportSpace(true)
  watch.reportSpace(false)
  expect(events).toEqual(["disk_full", "disk_full", "disk_recovered"])
})
