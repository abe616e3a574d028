import { afterAll, expect } from "bun:test"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { vacuumChanged, vacuumTables } from "../../src/database/upkeep.ts"
import type { LogFields } from "../../src/lib/log.ts"
import { long, slow } from "../long.ts"
import { scratchFolder } from "./processes.ts"

const { folder, remove } = scratchFolder()
afterAll(remove)

function logBytes(dataDir: string): number {
  const wal = join(dataDir, "postgres", "pg_wal")
  // A checkpoint may remove a file between readdirSync and statSync.
  const sizes = readdirSync(wal).map((name) => statSync(join(wal, name), { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await Bun.sleep(50)) {
    if (await holds()) return
  }
  throw new Error("it did not come true within 30 s")
}

long(
  "checkpoints keep the log short during many writes, and a nightly vacuum covers the changed tables",
  async () => {
    const dataDir = join(folder, "data")
    const checkpoints: LogFields[] = []
    let now = new Date("2026-01-01T12:00:00Z")
    const log = (_level: string, event: string, fields?: LogFields) => {
      if (event === "checkpoint") checkpoints.push(fields ?? {})
    }
    const housekeeping = { everyMs: 100, now: () => now }
    const { sql, close } = await openEmbedded({ dataDir, as: "server", log, housekeeping })
    await sql`create table load (id int, pad text)`
    let max = 0
    let written = 0
    for (let round = 0; round < 16; round++) {
      await sql`insert into load select n, repeat(md5(n::text), 60) from generate_series(1, 10000) n`
      written += 20
      await Bun.sleep(120)
      max = Math.max(max, logBytes(dataDir))
    }
    const mb = (bytes: number) => Math.round(bytes / 1024 / 1024)
    const times = checkpoints.map(({ latencyMs }) => latencyMs)
    process.stdout.write(
      `about ${written} MB written, ${checkpoints.length} checkpoints (${times} ms), log at most ${mb(max)} MB\n`,
    )
    expect(checkpoints.length).toBeGreaterThanOrEqual(3)
    expect(mb(max)).toBeLessThan(300)

    let before = -1
    while (before !== checkpoints.length) {
      before = checkpoints.length
      await Bun.sleep(800)
    }
    await sql`insert into load values (0, '')`
    now = new Date("2026-01-01T12:06:00Z")
    await until(async () => checkpoints.length > before)
    // Analyze also writes to the log.
    now = new Date("2026-01-01T12:12:00Z")
    await Bun.sleep(800)
    before = checkpoints.length
    now = new Date("2026-01-01T12:30:00Z")
    await Bun.sleep(500)
    expect(checkpoints.length).toBe(before)

    await sql`delete from load where id > 5000`
    now = new Date("2026-01-02T03:00:00Z")
    await until(async () => {
      const [row] = await sql`
      select n_dead_tup = 0 and last_vacuum is not null and last_analyze is not null as done
      from pg_stat_user_tables where relname = 'load'`
      return row!.done
    })
    await close()
  },
  120_000,
)

slow(
  "a vacuum of named tables sets their statistics, and a vacuum of changed tables skips unchanged tables",
  async () => {
    const { sql, close } = await openEmbedded({ dataDir: join(folder, "data"), as: "command", log: () => {} })
    await vacuumChanged(sql, { pauseMs: 0 })
    await sql`create table "Loaded Table" as select generate_series(1, 3000) as id`
    await vacuumTables(sql, [{ schema: "public", name: "Loaded Table" }], { pauseMs: 0 })
    expect([...(await sql`select reltuples::int as n from pg_class where relname = 'Loaded Table'`)]).toEqual([
      { n: 3000 },
    ])
    await sql`update "Loaded Table" set id = id + 1 where id < 10`
    expect(await vacuumChanged(sql, { pauseMs: 0 })).toEqual([{ schema: "public", name: "Loaded Table" }])
    expect(await vacuumChanged(sql, { pauseMs: 0 })).toEqual([])
    await close()
  },
)

slow("a table that has grown is analyzed within a minute, and again only once its size has doubled", async () => {
  let now = new Date("2026-01-01T12:00:00Z")
  const housekeeping = { everyMs: 50, now: () => now }
  const dataDir = join(folder, "grown")
  const { sql, close } = await openEmbedded({ dataDir, as: "server", log: () => {}, housekeeping })
  const readAnalysis = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql<{ times: number; known: number }[]>`
      select s.analyze_count as times, c.reltuples::int as known
      from pg_stat_user_tables s
      join pg_class c on c.oid = s.relid
      where s.relname = 'grown'`
    return [row!.times, row!.known]
  }
  await sql`create table grown (id int)`
  await sql`insert into grown select generate_series(1, 600)`
  await Bun.sleep(300)
  expect(await readAnalysis()).toEqual([0, -1])
  now = new Date("2026-01-01T12:01:00Z")
  await until(async () => (await readAnalysis())[0] === 1)
  expect(await readAnalysis()).toEqual([1, 600])
  await sql`insert into grown select generate_series(1, 500)`
  now = new Date("2026-01-01T12:02:00Z")
  await Bun.sleep(300)
  expect(await readAnalysis()).toEqual([1, 600])
  await sql`insert into grown select generate_series(1, 800)`
  now = new Date("2026-01-01T12:03:00Z")
  await until(async () => (await readAnalysis())[0] === 2)
  expect((await readAnalysis())[1]).toBe(1_900)
  await close()
})
