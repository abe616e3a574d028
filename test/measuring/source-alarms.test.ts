import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import type { Outcome } from "../../src/core/observation/attempt.ts"
import { openDatabase } from "../../src/database/connect.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { assertCanary } from "../../src/keywords/due/canary.ts"
import type { HintsObservation } from "../../src/keywords/kinds/hints.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { createLog, silentLog } from "../../src/lib/log.ts"
import type { SourceName } from "../../src/lib/upstreams.ts"
import { ReadFailure } from "../../src/measuring/source.ts"
import {
  type CanarySource,
  canaryOf,
  ensureCanaries,
  noteHealth,
  openAlerts,
} from "../../src/measuring/source-alarms.ts"
import { noteRead } from "../../src/measuring/source-reads.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { cases, slow } from "../long.ts"
import { newWorkspace, reading } from "./record/measured.ts"

const WEB = "apple-web-search"

let sql: Sql
const databases: Database[] = []
let logged: string[] = []
const log = createLog((line) => void logged.push(line), "debug")
const events = () => logged.map((line) => JSON.parse(line).event)

beforeAll(async () => {
  sql = await freshDatabase()
})
afterAll(async () => {
  for (const { close } of databases) await close()
})
beforeEach(async () => {
  await sql`delete from instance_alert`
  await sql`delete from source_state`
  await sql`delete from source_hour`
  await sql`delete from due`
  await sql`delete from tracked_app`
  logged = []
})

/** Counts a read of the source; null means answered. */
async function read(outcome: Outcome | null, { source = WEB as SourceName, on: db = sql } = {}): Promise<void> {
  if ((await noteRead(db, source, outcome, outcome && "status 1", new Date())).mayAlert)
    await noteHealth(db, source, log)
}

async function reads(count: number, outcome: Outcome | null): Promise<void> {
  for (let i = 0; i < count; i++) await read(outcome)
}

/** Returns the canary's row after its last reading. */
async function canaryRead(failure: Outcome | null, source: SourceName = WEB, failures = 2): Promise<void> {
  const failed = failure ? new Date() : null
  await sql`
    insert into due as d (kind, platform, storefront, subject, failures, failure, failed_at)
    values ('canary', 'ios', 'us', ${source}, ${failure ? failures : 0}, ${failure}, ${failed})
    on conflict (kind, platform, storefront, subject) do update
    set failures = excluded.failures, failure = excluded.failure, failed_at = excluded.failed_at`
  await noteHealth(sql, source, log)
}

const MORE = cases(40, 300)

const alerts = () => sql`select kind, subject, ended_at is null as open from instance_alert order by id limit 10000`
const opened = (kind: string, subject: string = WEB) => ({ kind, subject, open: true })
const ended = (kind: string, subject: string = WEB) => ({ kind, subject, open: false })

describe("a parser that stops matching", () => {
  test("five unparsable responses in a row open an alert, and a parsed response resets the count", async () => {
    await reads(4, "changed")
    await read(null)
    await reads(4, "changed")
    expect([[...(await alerts())], events()]).toEqual([[], []])
    await read("changed")
    expect([[...(await alerts())], events()]).toEqual([[opened("source_changed")], ["source_changed"]])
    expect(JSON.parse(logged[0]!)).toMatchObject({
      level: "error",
      operation: WEB,
      reason: "5 answers in a row that this version cannot read: status 1",
    })
  })

  test("other failures between unparsable responses neither increase nor reset their count", async () => {
    await reads(4, "changed")
    await reads(20, "failed")
    expect([...(await alerts())]).toEqual([])
    await read("changed")
    expect([...(await alerts())]).toEqual([opened("source_changed")])
  })

  test(`${MORE} more failures add no log line and no row`, async () => {
    await reads(MORE, "changed")
    expect([[...(await alerts())], events()]).toEqual([[opened("source_changed")], ["source_changed"]])
    const [next] = await sql<{ id: number }[]>`
      insert into instance_alert (kind, subject, detail)
      values ('x', 'x', 'x')
      returning id`
    const [first] = await sql<{ id: number }[]>`select min(id) as id from instance_alert`
    // and the failures use up no sequence value
    expect(next!.id).toBe(first!.id + 1)
  })

  test("the first parsed response ends the alert, and later unparsable responses open a new alert", async () => {
    await reads(7, "changed")
    await reads(3, null)
    expect([[...(await alerts())], events()]).toEqual([
      [ended("source_changed")],
      ["source_changed", "source_alert_ended"],
    ])
    await reads(5, "changed")
    expect([...(await alerts())]).toEqual([ended("source_changed"), opened("source_changed")])
  })

  test("a failure of another kind does not end the alert", async () => {
    await reads(5, "changed")
    await reads(3, "blocked")
    expect([...(await alerts())]).toEqual([opened("source_changed")])
  })

  test("unparsable responses are counted per source", async () => {
    await reads(4, "changed")
    await read("changed", { source: "apple-hints" })
    expect([...(await alerts())]).toEqual([])
    await reads(5, "changed")
    await read(null, { source: "apple-hints" })
    expect([...(await alerts())]).toEqual([opened("source_changed")])
  })
})

describe("a canary", () => {
  test("a canary that fails as changed twice in a row opens an alert until the canary is answered", async () => {
    await read(null)
    await canaryRead("changed", WEB, 1)
    expect([...(await alerts())]).toEqual([])
    await canaryRead("changed")
    await read("failed")
    await reads(3, null)
    expect([[...(await alerts())], events()]).toEqual([[opened("source_changed")], ["source_changed"]])
    await canaryRead(null)
    await read(null)
    expect([[...(await alerts())], events()]).toEqual([
      [ended("source_changed")],
      ["source_changed", "source_alert_ended"],
    ])
  })

  test("a refused canary, or a canary of another source, opens no alert", async () => {
    await read(null)
    await canaryRead("blocked")
    await canaryRead("changed", "apple-store-search")
    await read(null)
    expect([...(await alerts())]).toEqual([])
  })
})

describe("a refusing source", () => {
  const anHourLater = () => sql`update source_state set refused_since = refused_since - interval '1 hour'`

  slow("a source that refuses for an hour without an answer opens an alert despite other failures", async () => {
    await reads(50, "blocked")
    await reads(3, "failed")
    expect([...(await alerts())]).toEqual([])
    await anHourLater()
    await reads(50, "rate_limited")
    expect([[...(await alerts())], events()]).toEqual([[opened("source_blocked")], ["source_blocked"]])
    await reads(2, null)
    expect([[...(await alerts())], events()]).toEqual([
      [ended("source_blocked")],
      ["source_blocked", "source_alert_ended"],
    ])
  })

  test("a source that refuses requests but also answers within the hour opens no alert", async () => {
    await read("blocked")
    await anHourLater()
    await read(null)
    await read("blocked")
    expect([...(await alerts())]).toEqual([])
  })

  test("an answer ends both alerts of a source that refused requests after unparsable responses", async () => {
    await reads(5, "changed")
    await read("blocked")
    await anHourLater()
    await read("blocked")
    expect([...(await alerts())]).toEqual([opened("source_changed"), opened("source_blocked")])
    await read(null)
    expect([...(await alerts())]).toEqual([ended("source_changed"), ended("source_blocked")])
  })
})

describe("concurrent processes", () => {
  /** Returns separate connections on a server; on the embedded database all share one backend. */
  async function connections(count: number): Promise<Sql[]> {
    if (!process.env.DATABASE_URL) return Array.from({ length: count }, () => sql)
    while (databases.length < count)
      databases.push(
        await openDatabase({
          databaseUrl: scratchUrl(sql),
          dataDir: "",
          as: "command",
          log: silentLog,
          maxConnections: 4,
        }),
      )
    return databases.map((database) => database.sql)
  }

  slow("eight processes whose reads all fail open one alert, log it once, and end it once", async () => {
    const each = await connections(8)
    for (let round = 1; round <= 5; round++) {
      logged = []
      await Promise.all(each.flatMap((db) => Array.from({ length: 15 }, () => read("changed", { on: db }))))
      expect(events()).toEqual(["source_changed"])
      await Promise.all(each.flatMap((db) => Array.from({ length: 5 }, () => read(null, { on: db }))))
      expect(events()).toEqual(["source_changed", "source_alert_ended"])
      expect([...(await alerts())]).toEqual(Array.from({ length: round }, () => ended("source_changed")))
    }
  })
})

test("open alerts are listed oldest first, with their details", async () => {
  expect(await openAlerts(sql)).toEqual([])
  await reads(5, "changed")
  await sql`
    insert into instance_alert (kind, subject, detail, at, ended_at)
    values ('source_blocked', 'apple-hints', 'older', now() - interval '1 day', null),
      ('source_blocked', 'play-search', 'over', now() - interval '2 days', now())`
  expect(await openAlerts(sql)).toMatchObject([
    { kind: "source_blocked", subject: "apple-hints", detail: "older", at: expect.any(Date) },
    { kind: "source_changed", subject: WEB },
  ])
})

describe("the list of canaries", () => {
  const of = (...off: SourceName[]): CanarySource[] => [
    { name: "apple-web-search", upstream: "apps.apple.com", on: !off.includes("apple-web-search") },
    { name: "apple-store-search", upstream: "itunes.apple.com", on: !off.includes("apple-store-search") },
    { name: "itunes-lookup", upstream: "itunes.apple.com", on: true },
    { name: "apple-hints", upstream: "search.itunes.apple.com", on: !off.includes("apple-hints") },
    { name: "play-search", upstream: "play.google.com", on: !off.includes("play-search") },
  ]
  const rows = async () =>
    (
      await sql`
        select platform, storefront, subject from due where kind = 'canary' order by subject, storefront limit 100`
    ).map(({ platform, storefront, subject }) => `${platform} ${storefront} ${subject}`)
  const WEB_ROW = "ios us apple-web-search"
  const STORE_ROW = "ios us apple-store-search"
  const HINTS_ROW = "ios de apple-hints"

  async function track(platform: "ios" | "android", origin = "own"): Promise<void> {
    const workspace = await newWorkspace(sql)
    const [app] = await sql<{ id: number }[]>`
      insert into store_app (platform, store_id)
      values (${platform}, ${`canary.${workspace}`})
      returning id`
    await sql`
      insert into tracked_app (id, workspace_id, ios_app, android_app, countries, origin)
      values (${`canary-${workspace}`}, ${workspace}, ${platform === "ios" ? app!.id : null},
        ${platform === "android" ? app!.id : null}, '{us}', ${origin})`
  }

  test("no canary exists if no app is tracked, or only the demo's app", async () => {
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    await track("ios", "demo")
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual([])
  })

  test("each search and hint source of a tracked platform gets one canary, however often it is scheduled", async () => {
    await track("ios")
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual([HINTS_ROW, STORE_ROW, WEB_ROW])
    await track("android")
    await ensureCanaries(sql, { sources: of(), egressCountry: undefined })
    expect(await rows()).toEqual([HINTS_ROW, STORE_ROW, WEB_ROW])
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    await sql`update due set next_at = now() + interval '1 day', measured_at = now() where kind = 'canary'`
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual([HINTS_ROW, STORE_ROW, WEB_ROW, "android de play-search"])
    expect(await sql`select 1 from due where kind = 'canary' and measured_at is null limit 1`).toHaveLength(0)
  })

  test("a canary is deleted after its platform's last app is untracked or its source is disabled", async () => {
    await track("ios")
    await sql`insert into due (kind, platform, storefront, subject) values ('search', 'ios', 'us', 'apple-web-search')`
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    await ensureCanaries(sql, { sources: of("apple-store-search"), egressCountry: "de" })
    expect(await rows()).toEqual([HINTS_ROW, WEB_ROW])
    await ensureCanaries(sql, { sources: of("apple-store-search", "apple-hints"), egressCountry: "de" })
    expect(await rows()).toEqual([WEB_ROW])
    await sql`delete from tracked_app`
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual([])
    expect(await sql`select 1 from due where kind = 'search' limit 10`).toHaveLength(1)
  })

  test("a canary that is being read is not deleted", async () => {
    await track("ios")
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    await sql`update due set lease = gen_random_uuid(), lease_until = now() where subject = 'apple-web-search'`
    await sql`delete from tracked_app`
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual([WEB_ROW])
  })

  test("a canary for another country is deleted only after no process has read it for two days", async () => {
    await track("android")
    await ensureCanaries(sql, { sources: of(), egressCountry: "fr" })
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual(["android de play-search", "android fr play-search"])
    // App Store hints are requested in de too: that row belongs to another source
    await track("ios")
    await ensureCanaries(sql, { sources: of(), egressCountry: "fr" })
    expect(await rows()).toContain("android de play-search")
    await sql`delete from tracked_app where ios_app is not null`
    await sql`update due set next_at = now() - interval '49 hours' where storefront = 'fr'`
    await ensureCanaries(sql, { sources: of(), egressCountry: "de" })
    expect(await rows()).toEqual(["android de play-search"])
  })

  test("a canary is a search for a common term in a storefront that the instance reads", () => {
    expect(canaryOf("apple-web-search", undefined)).toEqual({ platform: "ios", storefront: "us", term: "weather" })
    expect(canaryOf("play-search", "de")).toEqual({ platform: "android", storefront: "de", term: "weather" })
    expect(canaryOf("apple-hints", "fr")).toEqual({ platform: "ios", storefront: "de", term: "insta" })
    expect(canaryOf("play-suggest", "fr")).toEqual({ platform: "android", storefront: "fr", term: "insta" })
    expect([canaryOf("play-search", undefined), canaryOf("itunes-lookup", "de")]).toEqual([null, null])
  })

  test("a canary fails as changed if its hints are empty or do not contain the prefix", () => {
    const hints = (...terms: string[]): HintsObservation => ({
      kind: "hints",
      source: "apple-hints",
      platform: "ios",
      storefront: "de",
      prefix: "insta",
      terms,
      seenAt: new Date("2026-03-01T00:00:00Z"),
      sha256: new Uint8Array(32),
      origin: "own",
      parser: 1,
    })
    for (const terms of [[], ["wetter", "karten"]])
      expect(() => assertCanary(hints(...terms))).toThrow(`none of ${terms.length} suggestions in de contains "insta"`)
    expect(assertCanary(hints("wetter", "instagram"))).toBeUndefined()
  })

  test("a canary fails as changed if its search has hardly any results", () => {
    const searchOf = (count: number): SearchObservation =>
      reading(
        "weather",
        "2026-03-01T00:00:00Z",
        Array.from({ length: count }, (_, i) => String(i + 1)),
      )
    for (const count of [0, 1, 9]) {
      const thrown = (() => {
        try {
          return assertCanary(searchOf(count))
        } catch (error) {
          return error
        }
      })()
      expect(thrown).toBeInstanceOf(ReadFailure)
      expect(thrown).toMatchObject({ outcome: "changed", message: `${count} apps for "weather" in us` })
    }
    for (const count of [10, 200]) expect(assertCanary(searchOf(count))).toBeUndefined()
  })
})
