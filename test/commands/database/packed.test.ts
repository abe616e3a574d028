import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../../src/observations/record.ts"
import { removeOld } from "../../../src/retention/remove-old.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { scratchDatabase } from "../../database/server.ts"
import { beforeLong, cases, long, longOnServer } from "../../long.ts"
import { NOW, newWorkspace, reading } from "../../observations/measured.ts"
import { readings, searched, TERMS, told } from "../../observations/searched.ts"
import { answer, copyOf, dataFolder, removeFolders, scratch } from "../child.ts"
import { inFolder, inServer } from "../filled.ts"

setDefaultTimeout(240_000)
const KILLS = cases(2, 8)

/** Never opened again; tests take copies of them. What is told of both is the same. */
let whole: string
let packed: string
let app: string
let before: Awaited<ReturnType<typeof told>>
/** Of them, those that are not the demo's. */
let packable = 0

beforeLong(async () => {
  whole = (await dataFolder()).DATA_DIR
  await inFolder(whole, store)
  packed = copyOf(whole)
  await inFolder(packed, async (sql) => {
    await removeOld(sql, FOR_EVER, { pauseMs: 0 })
    expect((await count(sql)).packed).toBe(packable)
  })
})
afterAll(removeFolders)

const FOR_EVER = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
async function store(sql: Sql): Promise<void> {
  const workspaceId = await newWorkspace(sql)
  const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: TERMS, origin: "own" } as const
  app = await sql.begin((tx) => trackApp(tx, tracked))
  await record(sql, searched(23), () => NOW)
  before = await told(sql, app)
  packable = (await sql`select from search_results where origin <> 'demo'`).count
}

async function count(sql: Sql) {
  const [row] = await sql<{ whole: number; packed: number }[]>`
    select (select count(*)::int from search_results) as whole,
      coalesce((select sum(cardinality(seen_ats))::int from search_fortnight), 0) as packed`
  return row!
}

/** That they say what they said, and give way to a better reading. */
async function tellsAndLivesOn(sql: Sql): Promise<void> {
  expect((await count(sql)).packed).toBe(packable)
  expect(await told(sql, app)).toEqual(before)
  const { term, seen } = before.readings.find(({ origin, ids }) => origin !== "demo" && ids.length === 5)!
  const better = reading(term, `${seen.slice(0, 10)}T23:59:59Z`, [10003, 10001], { parser: 9 })
  expect((await record(sql, [better], () => NOW)).recorded).toBe(1)
  await removeOld(sql, FOR_EVER, { pauseMs: 0 })
  expect((await count(sql)).packed).toBe(packable + 1)
}

describe("packed readings say what they said", () => {
  long("after a backup and a restore", async () => {
    const [file, DATA_DIR] = [join(scratch(), "packed.backup"), join(scratch(), "new")]
    await answer(["backup", file], { env: { DATA_DIR: copyOf(packed) } })
    await answer(["restore", file], { env: { DATA_DIR } })
    await inFolder(DATA_DIR, tellsAndLivesOn)
  })

  longOnServer("postgres: after a move to a server, and a restore from there", async () => {
    await using server = await scratchDatabase("packed")
    await answer(["move-database", "--to", server.url], { env: { DATA_DIR: copyOf(packed) } })
    const [file, DATA_DIR] = [join(scratch(), "moved.backup"), join(scratch(), "back")]
    await answer(["backup", file], { env: { DATABASE_URL: server.url } })
    await answer(["restore", file], { env: { DATA_DIR } })
    await inServer(server.url, tellsAndLivesOn)
    await inFolder(DATA_DIR, tellsAndLivesOn)
  })

  long("whenever the process that packs them is killed: embedded", async () => {
    const folder = copyOf(whole)
    await packUnderKills(folder, (work) => inFolder(folder, work))
  })

  longOnServer("postgres: whenever the process that packs them is killed", async () => {
    await using server = await scratchDatabase("killed")
    await answer(["move-database", "--to", server.url], { env: { DATA_DIR: copyOf(whole) } })
    await packUnderKills(server.url, (work) => inServer(server.url, work))
  })
})

/** Kills come later and later, until one came amid the work and the rest has been packed. */
async function packUnderKills(where: string, within: (work: (sql: Sql) => Promise<void>) => Promise<void>) {
  let amid = 0
  for (let kill = 0; kill < KILLS || amid === 0; kill++) {
    const packer = Bun.spawn([process.execPath, PACKER, where], { stdout: "pipe", stderr: "inherit" })
    const said = packer.stdout.getReader()
    await said.read()
    await Bun.sleep((kill * 29) % 300)
    packer.kill("SIGKILL")
    await packer.exited
    await within(async (sql) => {
      const held = await count(sql)
      if (held.packed > 0 && held.packed < packable) amid++
      expect(await readings(sql)).toEqual(before.readings)
      // begun anew, so that every kill finds work
      if (held.packed === packable) await release(sql)
    })
  }
  await within(async (sql) => {
    await removeOld(sql, FOR_EVER, { pauseMs: 0 })
    await tellsAndLivesOn(sql)
  })
}

async function release(sql: Sql): Promise<void> {
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    select r.list_id, r.day, r.source, r.seen_at, r.depth, r.complete, r.parser, r.origin, r.egress, r.sha256, r.app_ids
    from list l
    cross join lateral packed_searches(l.id, '-infinity', 'infinity') r`
  await sql`delete from search_fortnight`
}

const PACKER = join(import.meta.dirname, "../../observations/search-packer.ts")
