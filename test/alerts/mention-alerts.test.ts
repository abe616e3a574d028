import { beforeEach, expect, test } from "bun:test"
import { openImportFindings } from "../../src/alerts/imported.ts"
import type { Sql } from "../../src/database/types.ts"
import { deleteRows, freshDatabase } from "../database.ts"
import { appsReading } from "../measuring/record/measured.ts"
import { importLines } from "../record.ts"
import { answered } from "../visibility/answered.ts"
import { deriveFor, lines, OWN, readAlerts, storeAll, TODAY, trackNew } from "./derived-alerts.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
  await trackNew(sql, ["tea"])
  await storeAll(sql, [appsReading("2025-11-01T10:00:00Z", [{ id: OWN, name: "Tea Timer: Steep it right" }])])
})

/** Returns a check: one answer per minute, and the first `named` answers mention the app. */
function check(day: string, named: number, runs = 3, rest: object = {}) {
  return Array.from({ length: runs }, (_, run) =>
    answered({
      seenAt: `${day}T10:0${run}:00Z`,
      run,
      phrasing: run % 2 === 0 ? "1a" : "1b",
      text: run < named ? "**Tea Timer** is good." : "Use the clock of your kitchen.",
      ...rest,
    }),
  )
}

async function alertsOf(...checks: ReturnType<typeof check>[]): Promise<string[]> {
  await storeAll(sql, checks.flat())
  await deriveFor(sql)
  return lines(await readAlerts(sql, "ai_mention_lost"))
}

const BEFORE = () => [check("2025-11-05", 3), check("2025-11-10", 3)]
const LOST = ["2025-11-20 ai_mention_lost tea openai"]

test("an app named in 6 of 6 and then 0 of 6 answers causes an alert with both counts", async () => {
  expect(await alertsOf(...BEFORE(), check("2025-11-15", 0), check("2025-11-20", 0))).toEqual(LOST)
  const [alert] = await readAlerts(sql, "ai_mention_lost")
  expect(alert).toMatchObject({ storefront: "us", at: new Date("2025-11-20T10:02:00Z") })
  expect(alert!.facts).toEqual({
    term: "tea",
    assistant: "openai",
    model: "m-1",
    against: "2025-11-10",
    now: { named: 0, of: 6 },
    before: { named: 6, of: 6 },
  })
  await deriveFor(sql)
  expect(await readAlerts(sql, "ai_mention_lost")).toHaveLength(1)
})

test("an alert about lost mentions requires mentions in at least 5 of the 6 earlier answers", async () => {
  const now = [check("2025-11-15", 0), check("2025-11-20", 0)]
  expect(await alertsOf(check("2025-11-05", 2), check("2025-11-10", 3), ...now)).toEqual(LOST)
  await deleteRows(sql, "alert", "assistant_answer")
  expect(await alertsOf(check("2025-11-05", 2), check("2025-11-10", 2), ...now)).toEqual([])
})

test("a keyword causes no alert if only its latest check does not name the app", async () => {
  expect(await alertsOf(check("2025-11-15", 3), check("2025-11-20", 0))).toEqual([])
  expect(await alertsOf(...BEFORE(), check("2025-11-16", 1))).toEqual([])
})

test("answers of different models or to differently worded questions are not compared", async () => {
  const [model, words] = [{ model: "m-2" }, { phrasing: "2a" }]
  expect(await alertsOf(...BEFORE(), check("2025-11-15", 0, 3, model), check("2025-11-20", 0, 3, model))).toEqual([])
  await deleteRows(sql, "assistant_answer")
  expect(await alertsOf(...BEFORE(), check("2025-11-15", 0, 3, words), check("2025-11-20", 0, 3, words))).toEqual([])
})

test("a keyword causes no alert if it is not tracked or if it lost its mentions long ago", async () => {
  const other = { term: "coffee" }
  const checks = ["2025-11-05", "2025-11-10", "2025-11-15", "2025-11-20"].map((day, at) =>
    check(day, at < 2 ? 3 : 0, 3, other),
  )
  expect(await alertsOf(...checks)).toEqual([])
  const old = ["2025-10-05", "2025-10-10", "2025-10-15", "2025-10-20"].map((day, at) => check(day, at < 2 ? 3 : 0))
  expect(await alertsOf(...old)).toEqual([])
})

test("an app in both stores gets one alert", async () => {
  await sql`
    with play as (insert into store_app (platform, store_id) values ('android', 'com.example.tea') returning id)
    update tracked_app set android_app = (select id from play)`
  await alertsOf(...BEFORE(), check("2025-11-15", 0), check("2025-11-20", 0))
  await deriveFor(sql, { platform: "android", subject: "com.example.tea" })
  expect(await readAlerts(sql, "ai_mention_lost")).toHaveLength(1)
})

test("an import of assistants' answers makes the app's findings in both stores due", async () => {
  const line = {
    kind: "assistant_answer",
    source: "openai",
    storefront: "us",
    term: "tea",
    language: "en",
    model: "m-1",
    phrasing: "1a",
    run: 0,
    seenAt: "2025-11-20T10:00:00Z",
    text: "None.",
    searched: false,
    cited: [],
  }
  const lines = async function* () {
    yield JSON.stringify(line)
  }
  const findings = openImportFindings({ now: () => TODAY, pause: async () => {} })
  await sql`update due set next_at = '2030-01-01' where kind = 'findings'`
  await importLines(sql, lines(), { now: () => TODAY, pause: async () => {}, note: findings.note })
  const [row] = await sql<{ soon: boolean }[]>`
    select next_at < '2029-01-01' as soon from due where kind = 'findings' and platform = 'ios'`
  expect(row).toEqual({ soon: true })
})
