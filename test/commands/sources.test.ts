import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { schemaFiles } from "../../src/commands/cli/with-database.ts"
import type { Outcome } from "../../src/core/observation/attempt.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { SourceName } from "../../src/lib/upstreams.ts"
import { noteCountry } from "../../src/measuring/countries.ts"
import { noteHealth } from "../../src/measuring/source-alarms.ts"
import { noteRead } from "../../src/measuring/source-reads.ts"
import { scratchDatabase } from "../database/server.ts"
import { slow } from "../long.ts"
import { answer, appmeter, dataFolder, removeFolders, scratch } from "./child.ts"
import { emptyTables, searches } from "./measured-scene.ts"

setDefaultTimeout(60_000)
const postgres = test.skipIf(!process.env.DATABASE_URL)

let database: Database
let sql: Sql
let env: { DATA_DIR: string }

beforeAll(async () => {
  env = await dataFolder()
  database = await openEmbedded({ dataDir: env.DATA_DIR, as: "server", log: silentLog })
  sql = database.sql
})
beforeEach(() => emptyTables(sql))
afterAll(async () => {
  await database.close()
  removeFolders()
})

async function reads(source: SourceName, outcomes: (Outcome | null)[]): Promise<void> {
  for (const outcome of outcomes) {
    const failure = outcome && "a list where a page was"
    if ((await noteRead(sql, source, outcome, failure, new Date())).mayAlert) await noteHealth(sql, source, silentLog)
  }
}

const BROKEN = Array<Outcome>(5).fill("changed")

describe("with a running server", () => {
  test("the command sources lists every source with its host, without results on a new instance", async () => {
    const { healthy, sources, short, alerts } = await answer(["sources"], { env })
    expect([healthy, short, alerts]).toEqual([true, [], []])
    expect(sources.map(({ source, upstream, on }: Record<string, unknown>) => [source, upstream, on])).toEqual([
      ["apple-web-search", "apps.apple.com", true],
      ["apple-app-page", "apps.apple.com", true],
      ["itunes-lookup", "itunes.apple.com", true],
      ["itunes-search", "itunes.apple.com", true],
      ["apple-charts", "itunes.apple.com", true],
      ["apple-genres", "itunes.apple.com", true],
      ["itunes-developer", "itunes.apple.com", true],
      ["apple-reviews", "itunes.apple.com", true],
      ["apple-store-search", "search.itunes.apple.com", true],
      ["apple-hints", "search.itunes.apple.com", true],
      ["play-search", "play.google.com", false],
      ["play-suggest", "play.google.com", false],
      ["play-details", "play.google.com", false],
      // reviews are read by language, from any country
      ["play-reviews", "play.google.com", true],
      ["app-ads-txt", "developer-sites", true],
    ])
    for (const source of sources)
      expect(source).toMatchObject({ successRate24h: null, lastSuccess: null, failed24h: 0 })
  })

  test("the command sources applies SOURCES_OFF, EGRESS_COUNTRY and UPSTREAM_GAPS_MS", async () => {
    const settings = { SOURCES_OFF: "apple-hints", EGRESS_COUNTRY: "de", UPSTREAM_GAPS_MS: "apps.apple.com=7000" }
    const { sources } = await answer(["sources"], { env: { ...env, ...settings } })
    const sourceNamed = (name: string) => sources.find(({ source }: { source: string }) => source === name)
    expect([sourceNamed("apple-hints").on, sourceNamed("play-search").on]).toEqual([false, true])
    expect([sourceNamed("apple-web-search").pace.gapMs, sourceNamed("itunes-lookup").pace.gapMs]).toEqual([
      7_000, 3_000,
    ])
  })

  test("the command sources shows a source's success rate, last failure and number of failures in a row", async () => {
    await reads("apple-web-search", [null, null, null, "blocked"])
    const { healthy, sources } = await answer(["sources"], { env })
    expect(healthy).toBe(true)
    expect(sources[0]).toMatchObject({
      lastSuccess: expect.stringMatching(/^20/),
      answered24h: 3,
      failed24h: 1,
      successRate24h: 0.75,
      lastFailure: { outcome: "blocked", detail: "a list where a page was" },
      failuresInARow: 1,
    })
  })

  test("the command sources compares the requested country with the country of the responses", async () => {
    const fresh = await answer(["sources"], { env })
    expect(fresh.countries).toEqual({ effect: "unknown", answers: [] })
    const lane = { upstream: "play.google.com", egress: "main" } as const
    for (const answered of ["us", "us", "pl"]) await noteCountry(sql, lane, { asked: "us", answered }, new Date())
    await noteCountry(sql, { ...lane, egress: "another" }, { asked: "us", answered: "fr" }, new Date())
    const { countries } = await answer(["sources"], { env })
    expect(countries).toMatchObject({
      effect: "mixed",
      answers: [
        { upstream: "play.google.com", asked: "us", answered: "pl", reads: 1 },
        { upstream: "play.google.com", asked: "us", answered: "us", reads: 2 },
      ],
    })
    const { out } = await appmeter(["sources"], { env })
    expect(out).toMatch(/^US +PL +1 +20\S+Z +20\S+Z$/m)
    expect(out).toMatch(/^So far pages are sometimes of the requested country and sometimes of another\.$/m)
  })

  test("the command sources reports a shortfall of requests and exits with 0", async () => {
    await searches(sql, 100)
    const options = { env: { ...env, UPSTREAM_GAPS_MS: "apps.apple.com=1000000" } }
    const { healthy, short } = await answer(["sources"], options)
    expect([healthy, short]).toEqual([
      true,
      [{ upstream: "apps.apple.com", asked: 100, paying: 0, free: 100, can: 86, canAtBase: 86, short: 14 }],
    ])
    const { out } = await appmeter(["sources"], options)
    expect(out).toMatch(/^apps\.apple\.com +100 +0 +86 +14$/m)
  })

  test("the command sources exits with 1 and shows the alert while an enabled source is broken", async () => {
    await reads("apple-hints", BROKEN)
    const [text, json] = [await appmeter(["sources"], { env }), await appmeter(["sources", "--json"], { env })]
    expect([text.code, json.code, text.err, json.err]).toEqual([1, 1, "", ""])
    expect(text.out).toMatch(/^SOURCE +UPSTREAM +ENABLED/)
    expect(text.out).toMatch(/^play-search +play\.google\.com +no: no EGRESS_COUNTRY +-/m)
    expect(text.out).toMatch(/^apple-hints .* changed: a list where a page was +1000 ms/m)
    expect(text.out).toMatch(/^source_changed +apple-hints +20\S+Z +5 answers in a row .*: a list where a page was$/m)
    expect(JSON.parse(json.out)).toMatchObject({
      healthy: false,
      alerts: [{ kind: "source_changed", subject: "apple-hints" }],
    })
    expect((await appmeter(["sources"], { env: { ...env, SOURCES_OFF: "apple-hints" } })).code).toBe(0)
    await reads("apple-hints", [null])
    expect((await appmeter(["sources"], { env })).code).toBe(0)
  })
})

describe("without a server", () => {
  slow("the command sources works without a server, and does not create a missing database", async () => {
    const free = await dataFolder()
    expect((await answer(["sources"], { env: free })).healthy).toBe(true)
    const DATA_DIR = join(scratch(), "none")
    const { code, err } = await appmeter(["sources"], { env: { DATA_DIR } })
    expect([code, existsSync(DATA_DIR)]).toEqual([1, false])
    expect(err).toContain(`there is no database in ${DATA_DIR}`)
  })

  postgres("postgres: the command sources shows the alerts of a server database while no server runs", async () => {
    await using server = await scratchDatabase("sources")
    const serverDatabase = await openDatabase({ databaseUrl: server.url, dataDir: "", as: "command", log: silentLog })
    await migrate(serverDatabase.sql, schemaFiles(), silentLog)
    for (const outcome of BROKEN) await noteRead(serverDatabase.sql, "itunes-lookup", outcome, null, new Date())
    await noteHealth(serverDatabase.sql, "itunes-lookup", silentLog)
    await serverDatabase.close()
    const { code, out } = await appmeter(["sources", "--json"], { env: { DATABASE_URL: server.url } })
    expect([code, JSON.parse(out).alerts]).toMatchObject([1, [{ subject: "itunes-lookup" }]])
  })
})
