import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { isDamaged } from "../../../src/database/disk.ts"
import type { Sql } from "../../../src/database/types.ts"
import { kindsOf } from "../../../src/due-kinds.ts"
import { createMeasure } from "../../../src/measuring/measure.ts"
import { damageSearches, repairSearches } from "../../core/market.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { reading } from "../../measuring/record/measured.ts"
import { answerSearches, someApps } from "../../measuring/store-pages.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { forgetSearches } from "../../world/market.ts"
import { type LiveStores, liveStores } from "../../world/stores.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

const APPS = someApps(12)
let sql: Sql
let scene: LiveStores
let key: string
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await liveStores(sql)
  await forgetSearches(sql)
  await sql`delete from allowance_used where allowance = 'measurements'`
  workspaceId = await scene.service.workspace({ explorer: true, plan: "pro", overrides: { ratePerSecond: 100_000 } })
  key = await scene.service.key(workspaceId, { scopes: ["apps:read", "hive:read", "hive:measure"] })
  answerSearches(scene.stores, { apps: APPS, suggests: ["journal app"] })
})

afterEach(async () => {
  await repairSearches(sql)
  await sql`drop trigger if exists refuses on search_results`
  await scene[Symbol.asyncDispose]()
})

/**
 * Makes the database refuse each reading of a search, as with a full disk, a read-only database or a failed constraint.
 */
async function refuseSearches(sqlstate: string): Promise<void> {
  await sql.unsafe(`
    create or replace function refuses() returns trigger language plpgsql as $$
    begin raise exception 'refused' using errcode = '${sqlstate}'; end $$;
    create trigger refuses before insert on search_results for each row execute function refuses()`)
}

const readCosts = async () => {
  const ledger = await sql`select from ledger where workspace_id = ${workspaceId}`
  const [row] = await sql<{ units: number }[]>`
    select coalesce(sum(used), 0)::int as units
    from allowance_used
    where workspace_id = ${workspaceId} and allowance = 'measurements'`
  return [ledger.length, row!.units]
}

const OPERATIONS = [
  ["check_rank", "GET", "/v1/rank-check?app=10001&term=journal&cc=us", { app: "10001", term: "journal", cc: "us" }],
  ["hive_measure_keyword", "POST", "/v1/hive/keywords/journal/metrics/measure", { term: "journal", wait: 20 }],
] as const

const rest = (at: (typeof OPERATIONS)[number], service = scene.service) =>
  service.call(at[2], { key, method: at[1], ...(at[1] === "POST" && { body: { wait: 20 } }) })

slow.each(["53100", "25006", "23514"])(
  "a reading that cannot be stored (SQLSTATE %s) fails with hive_write_failed for free, and a retry succeeds",
  async (sqlstate) => {
    await refuseSearches(sqlstate)
    for (const at of OPERATIONS) {
      const answer = await rest(at)
      expect([at[0], answer.status, answer.body.error]).toEqual([at[0], 400, "hive_write_failed"])
      expect(answer.headers.get("retry-after")).toBe("60")
      const tool = await scene.service.tool(at[0], at[3], { key })
      expect([tool.isError, tool.body]).toEqual([true, answer.body])
    }
    expect(await readCosts()).toEqual([0, 0])
    const requestCount = scene.stores.requests.length
    expect(requestCount).toBeGreaterThan(0)
    await sql`drop trigger refuses on search_results`
    const measured = await rest(OPERATIONS[1])
    expect([measured.status, measured.body.difficultyEnd]).toEqual([200, "measured"])
    expect(scene.stores.requests.length).toBeGreaterThan(requestCount)
    expect(await readCosts()).toEqual([1, 1])
  },
)

slow("a tracked keyword stays due if its reading cannot be stored, and another process gets the error", async () => {
  await refuseSearches("53100")
  await trackOwn(sql, { workspaceId, iosId: "10002", countries: ["us"], keywords: ["journal"], origin: "own" })
  await sql`delete from due`
  const now = () => new Date()
  const kinds = kindsOf({ egressCountry: "us" })
  const idleReads = { isReading: () => true, nudge() {}, onEnded() {} }
  const measure = createMeasure({ sql, kinds, egress: "live", now, pollMs: 50, ...idleReads })
  const service = openService({ sql, measure })
  const answer = await rest(OPERATIONS[0], service)
  expect([answer.status, answer.body.error]).toEqual([400, "hive_write_failed"])
  const [due] = await sql`
    select failure, failures, lease, next_at > now() as later from due where kind = 'search' and subject = 'journal'`
  expect(due).toMatchObject({ failure: "unstored", lease: null })
  expect(due!.failures).toBeGreaterThan(0)
  // the last attempt of this row counts as failed, because the format has no value for unstored readings
  const { body } = await service.call("/v1/hive/keywords/journal/metrics?country=us", { key })
  expect(body.difficultyStanding.lastAttempt).toMatchObject({ of: "results", outcome: "failed" })
})

test("a call that reads damaged rows fails with hive_read_failed for free, and the call is logged", async () => {
  const service = openService({ sql })
  await record(sql, [
    reading("journal", new Date().toISOString(), ["10001", "10002"], { source: "apple-web-search", depth: 10 }),
  ])
  await damageSearches(sql)
  const answer = await service.call("/v1/hive/keywords/journal/ranks", { key })
  expect([answer.status, answer.body.error]).toEqual([400, "hive_read_failed"])
  const tool = await service.tool("hive_get_keyword_ranks", { term: "journal" }, { key })
  expect(tool.body).toEqual(answer.body)
  const line = service.logged.map((entry) => JSON.parse(entry)).findLast(({ event }) => event === "hive_read_failed")
  expect(line).toMatchObject({ level: "error", operation: "hive_get_keyword_ranks" })
  expect(line.reason).toContain('"term":"journal"')
  expect(line.requestId).toBeTruthy()
  const ranked = await service.call(OPERATIONS[0][2], { key })
  expect([ranked.status, ranked.body.error]).toEqual([400, "hive_read_failed"])
  expect(await readCosts()).toEqual([0, 0])
})

test("SQL errors of damaged pages and indexes count as damage, and those of wrong statements do not", async () => {
  const codes = ["XX001", "XX002", "22P02", "42P01"]
  const ends = await Promise.all(
    codes.map((code) =>
      sql.unsafe(`do $$ begin raise exception 'x' using errcode = '${code}'; end $$`).catch(isDamaged),
    ),
  )
  expect(ends).toEqual([true, true, false, false])
})
