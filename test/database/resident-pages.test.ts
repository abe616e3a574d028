import { heapStats } from "bun:jsc"
import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { openCluster } from "../../src/database/embedded/cluster.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import {
  discardFreePages,
  discardProgramPages,
  discardZeroPages,
  type Heap,
} from "../../src/database/embedded/resident-pages.ts"
import { silentLog } from "../../src/log.ts"
import { scratchFolder, startHolder } from "./processes.ts"

setDefaultTimeout(60_000)

const { folder, remove } = scratchFolder()
afterAll(remove)

test.skipIf(process.platform !== "linux")("what PostgreSQL reserved and does not use takes no memory", async () => {
  const cluster = await openCluster(join(folder, "one"))
  const { buffer } = (cluster as unknown as { Module: { HEAPU8: Uint8Array } }).Module.HEAPU8
  const before = Bun.hash(new Uint8Array(buffer))
  // the look at all of it for the sum has brought every page
  expect(discardZeroPages(buffer)).toBeGreaterThan(100 * 2 ** 20)
  expect(discardZeroPages(buffer)).toBe(0)
  expect(Bun.hash(new Uint8Array(buffer))).toBe(before)
  await cluster.exec("create table t as select generate_series(1, 100000) as n")
  expect((await cluster.query("select count(*)::int as count from t")).rows).toEqual([{ count: 100_000 }])
  await cluster.close()
})

test.skipIf(process.platform !== "linux")(
  "what a sort has left free takes no memory, and nothing else is lost",
  async () => {
    const cluster = await openCluster(join(folder, "four"))
    const heap = (cluster as unknown as { Module: Heap }).Module
    await cluster.exec("create table t as select n, md5(n::text) as m from generate_series(1, 20000) n")
    const sum = "select md5(string_agg(m, '' order by m)) as sum from t"
    const { rows } = await cluster.query(sum)
    discardZeroPages(heap.HEAPU8.buffer)
    const length = heap.HEAPU8.length
    expect(discardFreePages(heap)).toBeGreaterThan(2 * 2 ** 20)
    expect(discardFreePages(heap)).toBeLessThan(2 ** 20)
    expect(heap.HEAPU8.length).toBe(length)
    for (let again = 0; again < 3; again++) {
      expect((await cluster.query(sum)).rows).toEqual(rows)
      discardFreePages(heap)
    }
    await cluster.close()
  },
)

test("a server of which little is asked drops what it kept prepared and compiled, and prepares it again where it is asked", async () => {
  const housekeeping = { restMs: 500 }
  const { sql, close } = await openEmbedded({
    dataDir: join(folder, "five"),
    as: "server",
    log: silentLog,
    housekeeping,
  })
  const ask = () =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) => sql.unsafe(`select $1::int + ${n} as sum`, [1], { prepare: true })),
    )
  const sums = Array.from({ length: 20 }, (_, n) => [{ sum: n + 1 }])
  const kept = async () => (await sql`select 1 from pg_prepared_statements where statement like '%as sum'`).length
  expect(await ask()).toMatchObject(sums)
  expect(await kept()).toBe(20)
  const compiled = compiledFunctions()
  for (const until = performance.now() + 30_000; (await kept()) > 0 && performance.now() < until; )
    await Bun.sleep(1_200)
  expect(await kept()).toBe(0)
  expect(compiledFunctions()).toBeLessThan(compiled / 2)
  expect(await ask()).toMatchObject(sums)
  expect(await kept()).toBe(20)
  await close()
})

test.skipIf(process.platform !== "linux")("a server's embedded database gives it back once it is open", async () => {
  const holder = startHolder("server", join(folder, "two"))
  await holder.opened()
  const atFirst = memoryMegabytes(holder.child.pid)
  const until = performance.now() + 30_000
  while (memoryMegabytes(holder.child.pid) >= 25 && performance.now() < until) await Bun.sleep(100)
  const settled = memoryMegabytes(holder.child.pid)
  await holder.end()
  process.stdout.write(`PostgreSQL's memory: ${atFirst} MB, ${settled} MB once it is open\n`)
  expect(settled).toBeGreaterThan(5)
  expect(settled).toBeLessThan(25)
})

test.skipIf(process.platform !== "linux")(
  "pages of the program that a start has run through are given back, and it runs on",
  async () => {
    const cluster = await openCluster(join(folder, "three"))
    const before = fileMegabytes()
    expect(discardProgramPages()).toBeGreaterThan(20 * 2 ** 20)
    expect(before - fileMegabytes()).toBeGreaterThan(5)
    expect((await cluster.query("select sum(n)::int as sum from generate_series(1, 1000) n")).rows).toEqual([
      { sum: 500_500 },
    ])
    await cluster.close()
  },
)

const compiledFunctions = () => heapStats().objectTypeCounts.FunctionCodeBlock ?? 0

/** Of files, what is there of this process. */
function fileMegabytes(): number {
  return Number(/^RssFile:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024
}

/** Of PGlite's memory, which spans 128 MB, what is there. */
function memoryMegabytes(pid: number): number {
  const mappings = readFileSync(`/proc/${pid}/smaps`, "utf8").split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)
  const kilobytes = (mapping: string, what: string) => Number(new RegExp(`^${what}: +(\\d+)`, "m").exec(mapping)?.[1])
  const own = mappings.find((mapping) => kilobytes(mapping, "Size") >> 10 === 128)!
  return Math.round(kilobytes(own, "Rss") / 1024)
}
