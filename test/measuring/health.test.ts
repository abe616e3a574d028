import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import type { Upstream } from "../../src/lib/upstreams.ts"
import type { BudgetKind } from "../../src/measuring/budget.ts"
import { readHealth, type SourceHealth } from "../../src/measuring/health.ts"
import type { CanarySource } from "../../src/measuring/source-alarms.ts"
import { freshDatabase } from "../database.ts"
import { importLines } from "../record.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  for (const table of ["source_state", "source_hour", "pace", "due"]) await sql`delete from ${sql(table)}`
})

const SOURCES: CanarySource[] = [
  { name: "play-search", upstream: "play.google.com", on: true },
  { name: "apple-web-search", upstream: "apps.apple.com", on: true },
  { name: "apple-hints", upstream: "search.itunes.apple.com", on: false },
]
const SEARCH: BudgetKind = {
  name: "search",
  platform: "ios",
  upstream: "apps.apple.com",
  together: 1,
  requests: 1,
  everyDays: 1,
}
const gapsMs = new Map<Upstream, number>([
  ["apps.apple.com", 1_000],
  ["play.google.com", 2_000],
])
const health = (egressCountry?: string) =>
  readHealth(sql, { sources: SOURCES, kinds: [SEARCH], egress: "main", gapsMs, egressCountry })
const web = async () => (await health())[1] as SourceHealth

describe("a source", () => {
  test("the health of a source that was never read has a null success rate and the default pace", async () => {
    const rows = await health("de")
    expect(rows.map(({ source }) => source)).toEqual(["play-search", "apple-web-search", "apple-hints"])
    expect(rows[1]).toEqual({
      source: "apple-web-search",
      upstream: "apps.apple.com",
      on: true,
      lastSuccess: null,
      answered24h: 0,
      failed24h: 0,
      successRate24h: null,
      stale24h: 0,
      lastFailure: null,
      failuresInARow: 0,
      budget: { upstream: "apps.apple.com", asked: 0, paying: 0, free: 0, can: 86_400, canAtBase: 86_400, short: 0 },
      pace: { gapMs: 1_000, baseGapMs: 1_000, waitingUntil: null },
      canary: null,
    })
    expect(rows[2]).toMatchObject({ on: false, budget: null })
  })

  test("the health of a source has the success rate of its own reads of the last 24 hours", async () => {
    await sql`
      insert into source_hour (source, hour, answered, failed)
      select 'apple-web-search', date_trunc('hour', now()) - i * interval '1 hour', 10, 2
      from generate_series(0, 50) i`
    await sql`
      insert into source_hour (source, hour, answered, failed) values ('play-search', date_trunc('hour', now()), 0, 7)`
    const [play, apple, hints] = await health()
    // clock hours: this one and those before it
    expect(apple).toMatchObject({ answered24h: 240, failed24h: 48, successRate24h: 5 / 6 })
    expect(play).toMatchObject({ answered24h: 0, failed24h: 7, successRate24h: 0 })
    expect(hints).toMatchObject({ successRate24h: null })
  })

  test("the health of a source counts the apps with a stale answer in the last 24 hours", async () => {
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
    const lookUp = (hours: number, released: number, rest: object = {}) =>
      JSON.stringify({
        kind: "apps",
        source: "itunes-lookup",
        platform: "ios",
        storefront: "us",
        asked: ["6744000020"],
        seenAt: hoursAgo(hours),
        apps: [{ id: "6744000020", name: "Tides", version: `1.${-released}`, updatedAt: hoursAgo(released), ...rest }],
      })
    const read = async function* () {
      yield lookUp(20, 900)
      yield lookUp(10, 30)
      yield lookUp(2, 900)
    }
    expect((await importLines(sql, read())).bad).toEqual([])
    const sources: CanarySource[] = [
      { name: "itunes-lookup", upstream: "itunes.apple.com", on: true },
      { name: "play-details", upstream: "play.google.com", on: true },
    ]
    const rows = await readHealth(sql, { sources, kinds: [SEARCH], egress: "main", gapsMs, egressCountry: undefined })
    expect(rows.map(({ source, stale24h }) => [source, stale24h])).toEqual([
      ["itunes-lookup", 1],
      ["play-details", 0],
    ])
  })

  test("the health of a source has its last success, its last failure, and its failures in a row", async () => {
    await sql`
      insert into source_state (source, answered_at, failed_at, failure, detail, failures)
      values ('apple-web-search', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z', 'blocked', 'status 403', 3)`
    expect(await web()).toMatchObject({
      lastSuccess: new Date("2026-03-01T10:00:00Z"),
      lastFailure: { at: new Date("2026-03-01T11:00:00Z"), outcome: "blocked", detail: "status 403" },
      failuresInARow: 3,
    })
  })
})

describe("request pace of a source", () => {
  const paced = (egress: string, refusals: number, next: string) => sql`
    insert into pace (upstream, egress, base_gap_ms, gap_ms, refusals, next_at)
    values ('apps.apple.com', ${egress}, 1000, 8000, ${refusals}, now() + ${next}::interval)`

  test("a source's pace shows the end of a pause after a refusal, but not the next request slot", async () => {
    await paced("main", 3, "10 minutes")
    const { pace, budget } = await web()
    expect(pace).toMatchObject({ gapMs: 8_000, baseGapMs: 1_000, waitingUntil: expect.any(Date) })
    expect(budget).toMatchObject({ can: 10_800, canAtBase: 86_400 })
    await sql`update pace set refusals = 0`
    expect((await web()).pace.waitingUntil).toBeNull()
    await sql`update pace set refusals = 3, next_at = now() - interval '1 s'`
    expect((await web()).pace.waitingUntil).toBeNull()
  })

  test("a source's pace is that of this egress address", async () => {
    await paced("second", 3, "10 minutes")
    expect((await web()).pace).toEqual({ gapMs: 1_000, baseGapMs: 1_000, waitingUntil: null })
  })
})

describe("canary of a source", () => {
  const row = (storefront: string, rest: { failure?: string; measured?: string } = {}) => sql`
    insert into due (kind, platform, storefront, subject, failures, failure, failed_at, measured_at)
    values ('canary', 'android', ${storefront}, 'play-search', ${rest.failure ? 2 : 0}, ${rest.failure ?? null},
      ${rest.failure ? new Date() : null}, ${rest.measured ?? null})`
  const canary = async (egressCountry?: string) => (await health(egressCountry))[0]!.canary

  test("the canary's state is waiting until it is read, then answers or its latest failure", async () => {
    await row("de")
    const waiting = { subject: "weather", storefront: "de", lastMeasured: null, state: "waiting" }
    expect(await canary("de")).toEqual(waiting as never)
    const measured_at = new Date("2026-03-01T10:00:00Z")
    await sql`update due set measured_at = ${measured_at}`
    expect(await canary("de")).toMatchObject({ lastMeasured: measured_at, state: "answers" })
    await sql`update due set failures = 1, failure = 'changed', failed_at = now()`
    expect(await canary("de")).toMatchObject({ lastMeasured: measured_at, state: "changed" })
    // a failure followed by an answer
    await sql`update due set failures = 0`
    expect(await canary("de")).toMatchObject({ state: "answers" })
  })

  test("a canary of another country than the instance's own is not shown", async () => {
    await row("fr", { failure: "changed" })
    expect([await canary("de"), await canary()]).toEqual([null, null])
  })
})
