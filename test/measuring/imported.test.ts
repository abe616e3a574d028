import { beforeEach, describe, expect, test } from "bun:test"
import { deriveFindings } from "../../src/alerts/findings.ts"
import { spansOf } from "../../src/alerts/import-spans.ts"
import { openImportFindings } from "../../src/alerts/imported.ts"
import { listAlerts } from "../../src/alerts/operations/alerts.ts"
import type { Sql } from "../../src/database/types.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import { createScene, rule } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { long, slow } from "../long.ts"
import { importLines } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"
import { ask, contextOf, newWorkspace } from "./record/measured.ts"

const TODAY = new Date("2025-11-20T12:00:00Z")
const OWN_APP = "10001"
const now = () => TODAY
const pause = async () => {}
let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  // the app is tracked from today on
  await trackOwn(sql, { workspaceId, iosId: OWN_APP, keywords: ["tea"] })
  await sql`update tracked_app set created_at = ${TODAY}`
  await sql`update tracked_term set added_at = ${TODAY}`
  await sql`delete from due`
})

const day = (ago: number) => addDays(dayOf(TODAY), -ago)

/** Returns a reading of "tea" on a day, with the app at that rank. */
function ranked(ago: number, rank: number): string {
  const ids = Array.from({ length: 50 }, (_, at) => String(20_001 + at))
  ids.splice(rank - 1, 1, OWN_APP)
  return JSON.stringify({
    kind: "search",
    source: "import",
    platform: "ios",
    storefront: "us",
    term: "tea",
    depth: 50,
    seenAt: `${day(ago)}T08:00:00Z`,
    results: ids.map((id) => ({ id })),
  })
}

async function load(lines: readonly string[], keptDays = 0): Promise<void> {
  const findings = openImportFindings({ now, pause, keptDays })
  async function* each() {
    yield* lines
  }
  const { bad } = await importLines(sql, each(), { now, pause, note: findings.note })
  expect(bad).toEqual([])
  await findings.tell(sql)
}

const alertLines = async () =>
  (
    await sql<{ line: string }[]>`
      select concat_ws(' ', day, type, facts ->> 'was', facts ->> 'rank', 
        case when withdrawn_at is not null then 'withdrawn' when history then 'history' else 'news' end) as line
      from alert
      order by day, type`
  ).map(({ line }) => line)

// below the first ten, where no alerts about rivals are made
const FALLS = [ranked(30, 15), ranked(29, 40), ranked(12, 18), ranked(2, 19), ranked(1, 45)]
const EXPECTED = [
  `${day(29)} rank_drop 15 40 history`,
  `${day(12)} rank_rise 40 18 history`,
  `${day(1)} rank_drop 19 45 news`,
]

describe("an import of past days", () => {
  slow("an import makes an alert dated on the day of each change, also for days before tracking began", async () => {
    await load(FALLS)
    expect(await alertLines()).toEqual(EXPECTED)
    const { unread, alerts } = await ask(listAlerts, contextOf(sql, workspaceId, TODAY), { limit: 50 })
    expect(unread).toBe(1)
    expect(
      alerts.map((alert: Record<string, unknown>) => [alert.day, alert.against, alert.history, alert.read]),
    ).toEqual([
      [day(1), day(2), false, false],
      [day(12), day(29), true, true],
      [day(29), day(30), true, true],
    ])
  })

  slow("an import delivers only the alerts of the last three days", async () => {
    const other = await createScene(sql)
    for (const type of ["rank_drop", "rank_rise"]) await rule(other, type)
    await load(FALLS)
    const rows = await sql`select day from alert_to_deliver join alert on id = alert_id order by day`
    expect(rows.map((row) => row.day)).toEqual([day(1)])
  })

  long("an import makes the same alerts in any order, in parts and when repeated", async () => {
    await load(FALLS)
    const rows = () => sql`select * from alert order by id`.then((found) => [...found])
    const before = await rows()
    await load(FALLS)
    expect(await rows()).toEqual(before)
    await sql`delete from alert`
    await sql`delete from search_results`
    for (const at of [4, 2, 0, 3, 1]) await load([FALLS[at]!])
    expect(await alertLines()).toEqual(EXPECTED)
  })

  slow("an import that fills a gap replaces old alerts that span the gap, and withdraws current alerts", async () => {
    await load([ranked(30, 15), ranked(20, 40)])
    expect(await alertLines()).toEqual([`${day(20)} rank_drop 15 40 history`])
    await load([ranked(25, 39)])
    expect(await alertLines()).toEqual([`${day(25)} rank_drop 15 39 history`])
    await sql`update alert set history = false`
    await load([ranked(28, 38)])
    expect(await alertLines()).toEqual([`${day(28)} rank_drop 15 38 history`, `${day(25)} rank_drop 15 39 withdrawn`])
  })

  slow("an import makes no alert for days beyond the retention of alerts", async () => {
    await load(FALLS, 20)
    expect(await alertLines()).toEqual(EXPECTED.slice(1))
  })

  test("an import schedules findings, so that a worker makes the alerts after an interrupted import", async () => {
    const findings = openImportFindings({ now, pause })
    async function* each() {
      yield* [ranked(2, 19), ranked(1, 45)]
    }
    await importLines(sql, each(), { now, pause, note: findings.note })
    const due = await sql`select kind, subject from due where next_at < now() + interval '2 minutes' order by kind`
    expect([...due]).toEqual([
      { kind: "difficulty", subject: "tea" },
      { kind: "findings", subject: OWN_APP },
    ])
  })
})

test("a worker that checks the last days makes no alert for days before tracking began", async () => {
  await load([])
  async function* each() {
    yield* FALLS
  }
  await importLines(sql, each(), { now, pause })
  await sql.begin((tx) => deriveFindings(tx, [{ platform: "ios", storefront: "us", subject: OWN_APP }], TODAY))
  expect(await alertLines()).toEqual([])
})

test("days are grouped into spans of at most the given number of days", () => {
  const days = ["2025-01-09", "2025-01-02", "2025-01-01", "2025-01-05", "2025-03-01", "2025-11-19", "2025-11-20"]
  expect(spansOf(days, 3)).toEqual([
    { from: "2025-01-01", to: "2025-01-03" },
    { from: "2025-01-04", to: "2025-01-05" },
    { from: "2025-01-09", to: "2025-01-09" },
    { from: "2025-03-01", to: "2025-03-01" },
    { from: "2025-11-19", to: "2025-11-20" },
  ])
  expect(spansOf([], 10)).toEqual([])
})
