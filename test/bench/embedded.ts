// DATABASE_URL=… bun test/bench/embedded.ts — the same calls on the embedded database (on disk, flushed, in its thread) and
// on that PostgreSQL, in turns, as ratios of one run: above 1 the embedded one takes longer. First by the processor's time of the
// process and the database, to which others on the machine add little, then by the clock. Ends with 2 without DATABASE_URL.

import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { createKey } from "../../src/access/key-register.ts"
import { openLimits } from "../../src/access/limits/open.ts"
import { createWorkspace } from "../../src/access/workspaces.ts"
import { createApp } from "../../src/app.ts"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { importLines } from "../../src/observations/import/import-lines.ts"
import { sandboxAt } from "../sandbox.ts"
import { trackOwn } from "../world/tracked.ts"
import { median } from "./load.ts"
import { type ProcessorTime, processorClock } from "./processor.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 15)
const TERMS = 200
const DEPTH = 100
const SERVER = process.env.DATABASE_URL
if (!SERVER) {
  console.log("DATABASE_URL names the PostgreSQL to compare with")
  process.exit(2)
}

const NO_TIME: ProcessorTime = { own: 0, database: 0 }

interface Side {
  database: Database
  clock: () => ProcessorTime
  /** One GET; its answer read whole. */
  get(path: string): Promise<void>
  appId: string
  /** How many imports it has had: each is of another minute. */
  imports: number
}

const folder = mkdtempSync(join(tmpdir(), "appmeter-embedded-"))
const scratch = `appmeter_bench_${process.pid}`
await asAdmin((admin) => admin`create database ${admin(scratch)}`)
const address = new URL(SERVER)
address.pathname = `/${scratch}`
const sides: Side[] = []
try {
  sides.push(await prepare(undefined), await prepare(address.href))
  const [settings] = await sides[1]!.database.sql`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commit`
  console.log(`PostgreSQL ${settings!.version}, fsync ${settings!.fsync}, synchronous_commit ${settings!.commit}`)
  await compare("whoami", 20, ({ get }) => get("/account"))
  await compare("list_keyword_ranks, 200 keywords", 10, ({ get, appId }) => get(`/apps/${appId}/keywords`))
  await compare("search", 10, ({ get }) => get("/search?q=term%2011"))
  for (const [what, path] of [
    ["whoami", () => "/account"],
    ["list_keyword_ranks", ({ appId }: Side) => `/apps/${appId}/keywords`],
  ] as const) {
    await compare(`${what}, 16 at once`, 2, async (side) => {
      await Promise.all(Array.from({ length: 16 }, () => side.get(path(side))))
    })
  }
  await compare("import of 200 readings, 100 deep", 1, (side) => bring(side))
} finally {
  for (const { database } of sides) await database.close()
  await asAdmin((admin) => admin`drop database ${admin(scratch)} with (force)`)
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)

/** So many calls on each side in turn, in rounds; the ratio is the median of the rounds' ratios. */
async function compare(what: string, calls: number, call: (side: Side) => Promise<void>): Promise<void> {
  const [times, processor]: number[][][] = [[], []]
  for (const side of sides) await call(side)
  for (let round = 0; round < ROUNDS; round++) {
    const [both, work]: number[][] = [[], []]
    for (const side of sides) {
      const [startedAt, before] = [performance.now(), side.clock()]
      for (let i = 0; i < calls; i++) await call(side)
      const after = side.clock()
      both!.push((performance.now() - startedAt) / calls)
      work!.push((after.own + after.database - before.own - before.database) / calls)
    }
    times!.push(both!)
    processor!.push(work!)
  }
  told(what, "of the processor", processor!)
  told(what, "by the clock", times!)
}

function told(what: string, measure: string, times: number[][]): void {
  const ratios = times.map(([embedded, server]) => embedded! / server!)
  const [embedded, server] = [0, 1].map((side) => median(times.map((both) => both[side]!)).toFixed(2))
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  console.log(
    `${what}: ${median(ratios).toFixed(2)} of PostgreSQL ${measure} (${range}); ${embedded} ms and ${server} ms`,
  )
}

async function prepare(databaseUrl: string | undefined): Promise<Side> {
  const database = await openDatabase({ databaseUrl, dataDir: join(folder, "data"), as: "server", log: silentLog })
  const { sql } = database
  await migrate(sql, readTree("sql", ".sql"), silentLog)
  const overrides = { credits: 1e12, ratePerSecond: 1e9, trackedKeywords: 1e6 }
  const { id: workspaceId } = await createWorkspace(sql, { name: "bench", plan: "enterprise", overrides })
  const { secret } = await createKey(sql, { workspace: "bench", kind: "live", name: "bench" }, randomBytes)
  const keywords = Array.from({ length: TERMS }, (_, i) => `term ${i}`)
  const asked = { workspaceId, iosId: "100000000", countries: ["us"], keywords, origin: "own" }
  const appId = await trackOwn(sql, asked)
  const side: Side = { database, clock: () => NO_TIME, appId, imports: 0, get: openGet(sql, secret) }
  await bring(side)
  await sql`analyze`
  // of a server its processes, which are there once as many have asked as ask at once
  await Promise.all(Array.from({ length: 16 }, () => side.get(`/apps/${appId}/keywords`)))
  return { ...side, clock: await processorClock(sql, databaseUrl) }
}

function openGet(sql: Sql, secret: string): Side["get"] {
  const now = () => new Date()
  const limits = openLimits({ sql, log: silentLog, now })
  const settings = {
    publicUrl: "http://127.0.0.1",
    trustedProxies: [],
    sandboxPerSecond: 1e9,
    requestDeadlineMs: 4_500,
    maxWaiting: 500,
  }
  const app = createApp({ sql, limits, sandbox: sandboxAt("http://127.0.0.1"), settings, log: silentLog, now })
  return async (path) => {
    const headers = { authorization: `Bearer ${secret}` }
    const response = await app.fetch(new Request(`http://127.0.0.1/v1${path}`, { headers }), "127.0.0.1")
    await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
  }
}

async function bring(side: Side): Promise<void> {
  const seenAt = new Date(Date.now() - 3_600_000 + ++side.imports * 1_000)
  const { recorded } = await importLines(side.database.sql, readings(seenAt))
  if (recorded !== TERMS) throw new Error(`${recorded} of ${TERMS} readings recorded`)
}

async function* readings(seenAt: Date): AsyncGenerator<string> {
  const same = { kind: "search", source: "import", platform: "ios", storefront: "us", seenAt, depth: DEPTH }
  for (let term = 0; term < TERMS; term++) {
    const results = Array.from({ length: DEPTH }, (_, i) => ({ id: String(100_000_000 + ((i + term) % DEPTH)) }))
    yield JSON.stringify({ ...same, term: `term ${term}`, results })
  }
}

async function asAdmin(work: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  const admin = postgres(SERVER!, { max: 1, onnotice: () => {} })
  await work(admin).finally(() => admin.end())
}
