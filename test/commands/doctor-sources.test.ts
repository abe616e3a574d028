import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { schemaFiles } from "../../src/commands/cli/with-database.ts"
import type { Finding } from "../../src/commands/doctor/finding.ts"
import { freeSpace } from "../../src/commands/doctor/folder.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { scratchDatabase } from "../database/server.ts"
import { long, slow } from "../long.ts"
import { pageOf } from "../stores/parsing/play-pages.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { appmeter, dataFolder, removeFolders, scratch } from "./child.ts"
import { emptyTables, rawFolder, searches, standingIn, track } from "./measured-scene.ts"

setDefaultTimeout(60_000)
const postgres = test.skipIf(!process.env.DATABASE_URL)

let database: Database
let sql: Sql
let DATA_DIR: string
let stores: ReplayServer

beforeAll(async () => {
  ;({ DATA_DIR } = await dataFolder())
  database = await openEmbedded({ dataDir: DATA_DIR, as: "server", log: silentLog })
  sql = database.sql
})
beforeEach(async () => {
  await emptyTables(sql)
  await stores?.stop()
  stores = replayServer()
})
afterAll(async () => {
  await stores.stop()
  await database.close()
  removeFolders()
})

/** Runs doctor against the stand-in unless UPSTREAM_URLS is set. */
async function runDoctor(env: Record<string, string> = {}) {
  const { out, err } = await appmeter(["doctor", "--json"], {
    env: { MEASURE: "yes", UPSTREAM_URLS: standingIn(stores), ...(env.DATABASE_URL ? {} : { DATA_DIR }), ...env },
  })
  expect(err).toBe("")
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  for (const { state, fix } of findings) expect([state, fix !== null]).toEqual([state, state !== "ok"])
  const after = findings.findIndex(({ thing }) => thing === "limits")
  return { all: findings, found: findings.slice(after + 1) }
}

const statesOf = (found: Finding[]) => Object.fromEntries(found.map(({ thing, state }) => [thing, state]))
const hosts = () => [...new Set(stores.requests.map(({ url }) => url.host))].sort()
const APPLE = ["apps.apple.com", "itunes.apple.com", "search.itunes.apple.com"]

describe("reaching the stores", () => {
  test("doctor sends no request while no app or only the demo is tracked", async () => {
    const nothing = [{ thing: "sources", state: "ok", says: "no app is tracked, so no store is read", fix: null }]
    expect((await runDoctor()).found).toEqual(nothing as Finding[])
    await track(sql, ["ios", "android"], "demo")
    expect([(await runDoctor()).found, hosts()]).toEqual([nothing as Finding[], []])
  })

  test("doctor checks exactly the hosts that Appmeter reads, and accepts any response", async () => {
    await track(sql, ["ios"])
    const { found } = await runDoctor()
    expect(statesOf(found)).toEqual({
      EGRESS_COUNTRY: "ok",
      ...Object.fromEntries(APPLE.map((host) => [host, "ok"])),
      budget: "ok",
      sources: "ok",
    })
    expect([hosts(), stores.requests.map(({ method, url }) => `${method} ${url.pathname}`)]).toEqual([
      APPLE,
      ["HEAD /", "HEAD /", "HEAD /"],
    ])
    expect(found[1]!.says).toMatch(/^reached at 127\.0\.0\.1:\d+ \(UPSTREAM_URLS\); status 404$/)
  })

  test("doctor warns if Android apps are tracked without EGRESS_COUNTRY", async () => {
    await track(sql, ["android"])
    const unset = await runDoctor()
    expect(unset.found[0]).toEqual({
      thing: "EGRESS_COUNTRY",
      state: "warning",
      says: "not set although Android apps are tracked, so only reviews are read from Google Play",
      fix: expect.stringMatching(/EGRESS_COUNTRY=de$/),
    })
    expect(hosts()).toEqual(["play.google.com"])
    expect(statesOf((await runDoctor({ EGRESS_COUNTRY: "de" })).found)).toEqual({
      EGRESS_COUNTRY: "ok",
      "play.google.com": "ok",
      budget: "ok",
      sources: "ok",
    })
  })

  slow("doctor compares EGRESS_COUNTRY with the country of Google Play's pages", async () => {
    await track(sql, ["android"])
    const play = (countryOf: (gl: string | null) => string) =>
      stores.on("play.google.com", "/store/apps", ({ url }) => {
        return new Response(pageOf([], { country: countryOf(url.searchParams.get("gl")) }))
      })
    const firstFinding = async (env: Record<string, string>) => (await runDoctor(env)).found[0]!
    play(() => "PL")
    expect(await firstFinding({})).toEqual({
      thing: "EGRESS_COUNTRY",
      state: "warning",
      says:
        "not set although Android apps are tracked, so only reviews are read from Google Play; " +
        "pages read from this address are of PL; pages are always of the same country, whatever is requested",
      fix: expect.stringMatching(/EGRESS_COUNTRY=pl$/),
    })
    expect(await firstFinding({ EGRESS_COUNTRY: "de" })).toEqual({
      thing: "EGRESS_COUNTRY",
      state: "problem",
      says:
        "de, but requests for DE return pages of PL; pages are always of the same country, whatever is requested. " +
        "Nothing on Google Play is measured",
      fix: "set EGRESS_COUNTRY=pl, or read from an address in DE",
    })
    await sql`delete from answered_country`
    play((gl) => gl ?? "PL")
    expect(await firstFinding({ EGRESS_COUNTRY: "de" })).toMatchObject({
      state: "ok",
      says: "de; requests for DE return pages of DE; pages are of the requested country",
    })
    const requestCount = stores.requests.length
    expect(await firstFinding({ EGRESS_COUNTRY: "de", MEASURE: "no" })).toMatchObject({ state: "ok" })
    expect(stores.requests.length).toBe(requestCount)
  })

  test("doctor does not check a host whose sources are all off", async () => {
    await track(sql, ["ios"])
    await runDoctor({ SOURCES_OFF: "apple-web-search,apple-app-page,apple-hints" })
    expect(hosts()).toEqual(["itunes.apple.com", "search.itunes.apple.com"])
  })

  long("a host that refuses connections or never answers is reported as a problem within seconds", async () => {
    await track(sql, ["ios"])
    stores.on("itunes.apple.com", "/", () => new Promise(() => {}))
    const { found } = await runDoctor({
      UPSTREAM_URLS: standingIn(stores).replace(/(?<=apps\.apple\.com=)[^,]+/, "http://127.0.0.1:1"),
    })
    expect(statesOf(found)).toMatchObject({
      "apps.apple.com": "problem",
      "itunes.apple.com": "problem",
      "search.itunes.apple.com": "ok",
    })
    const findingOf = (thing: string) => found.find((finding) => finding.thing === thing)!
    expect(findingOf("apps.apple.com").says).toStartWith("cannot be reached at 127.0.0.1:1 (UPSTREAM_URLS) from")
    expect(findingOf("itunes.apple.com").says).toEndWith("no answer within 3 s")
    expect(findingOf("apps.apple.com").fix).toBe("start the service there, or remove apps.apple.com from UPSTREAM_URLS")
  })

  slow(
    "with MEASURE=no, doctor checks hosts only if a process at the same egress read them within the hour",
    async () => {
      await track(sql, ["ios"])
      const { found } = await runDoctor({ MEASURE: "no" })
      expect([statesOf(found).stores, hosts()]).toEqual(["ok", []])
      await sql`insert into pace (upstream, egress, base_gap_ms, gap_ms) values ('apps.apple.com', 'main', 1000, 1000)`
      await runDoctor({ MEASURE: "no" })
      expect(hosts()).toEqual(APPLE)
      stores.requests.length = 0
      await runDoctor({ MEASURE: "no", EGRESS: "elsewhere" })
      await sql`update pace set next_at = now() - interval '61 minutes'`
      await runDoctor({ MEASURE: "no" })
      expect(hosts()).toEqual([])
    },
  )
})

describe("the requests that are due, compared with those that are possible", () => {
  const budget = async (env: Record<string, string> = {}) =>
    (await runDoctor(env)).found.filter(({ thing }) => thing === "budget")

  test("doctor shows the due and the possible requests a day of each host", async () => {
    await track(sql, ["ios"])
    await searches(sql, 100)
    const [only] = await budget()
    // the app's page, 6 charts, its look-up, reviews and genres
    expect(only!.says).toBe(
      "101 of 86400 to apps.apple.com, 1 of 86400 to developer-sites, 9 of 28800 to itunes.apple.com requests a day",
    )
  })

  test("a shortfall caused by the pause between requests is reported with a sufficient pause", async () => {
    await track(sql, ["ios"])
    await searches(sql, 99)
    expect(await budget({ UPSTREAM_GAPS_MS: "apps.apple.com=1000000" })).toEqual([
      {
        thing: "budget",
        state: "warning",
        says: "apps.apple.com needs 100 requests a day but only 86 are possible, 14 too few; paid plans go first",
        fix: expect.stringContaining("UPSTREAM_GAPS_MS=apps.apple.com=864000"),
      },
    ])
  })

  test("a shortfall caused by refusals is reported with the advice to wait", async () => {
    await track(sql, ["ios"])
    await searches(sql, 100)
    await sql`
      insert into pace (upstream, egress, base_gap_ms, gap_ms, refusals)
      values ('apps.apple.com', 'main', 1000, 1000000, 9)`
    const [only] = await budget()
    expect(only).toMatchObject({ state: "warning", fix: expect.stringMatching(/^wait until .* appmeter sources$/) })
  })
})

test("an open alert about an enabled source is reported as a problem with a fix", async () => {
  await track(sql, ["ios"])
  await sql`
    insert into instance_alert (kind, subject, detail, ended_at)
    values ('source_changed', 'apple-web-search', '5 answers in a row', null),
      ('source_blocked', 'apple-hints', 'refused for an hour', null),
      ('source_blocked', 'itunes-lookup', 'refused for an hour', now())`
  const { found } = await runDoctor()
  expect(found.slice(-2)).toEqual([
    {
      thing: "apple-web-search",
      state: "problem",
      says: expect.stringMatching(/^5 answers in a row \(since 20\d\d-/),
      fix:
        "install the newest Appmeter, then run: appmeter replay; " +
        "to stop reading it, set SOURCES_OFF=apple-web-search",
    },
    {
      thing: "apple-hints",
      state: "problem",
      says: expect.anything(),
      fix: expect.stringContaining("UPSTREAM_GAPS_MS=search.itunes.apple.com="),
    },
  ])
  const withoutSources = await runDoctor({ SOURCES_OFF: "apple-web-search,apple-hints" })
  expect(withoutSources.found.at(-1)).toMatchObject({ thing: "sources", state: "ok" })
})

describe("the folder of stored responses", () => {
  const raw = async (env: Record<string, string> = {}) =>
    (await runDoctor(env)).all.find(({ thing }) => thing === "RAW_DIR")!

  test("a folder of stored responses is in order while it is missing, filled or disabled", async () => {
    expect((await raw()).says).toBe(`${rawFolder(DATA_DIR)} does not exist yet; the first reading creates it`)
    mkdirSync(join(rawFolder(DATA_DIR), "ab"), { recursive: true })
    writeFileSync(join(rawFolder(DATA_DIR), "ab", "cd.gz"), new Uint8Array(3 * 2 ** 20))
    const { all } = await runDoctor()
    const findingOf = (thing: string) => all.find((finding) => finding.thing === thing)!
    expect(findingOf("RAW_DIR").says).toBe(`3 MB of stored responses in ${rawFolder(DATA_DIR)}, at most 14 days old`)
    const before = findingOf("size").says
    writeFileSync(join(rawFolder(DATA_DIR), "ab", "ef.gz"), new Uint8Array(50 * 2 ** 20))
    // stored bodies are not part of the database
    expect((await runDoctor()).all.find(({ thing }) => thing === "size")!.says).toBe(before)
    expect((await raw({ RAW_DAYS: "0" })).says).toBe("no responses are stored (RAW_DAYS=0)")
  })

  test("an unusable folder of stored responses is a warning, because measuring continues without it", async () => {
    const file = join(scratch(), "file")
    writeFileSync(file, "")
    for (const RAW_DIR of [file, join(file, "inside")])
      expect(await raw({ RAW_DIR })).toMatchObject({
        state: "warning",
        says: `${file} is not a folder, so no responses are stored`,
        fix: expect.stringContaining("RAW_DIR=/var/lib/appmeter-raw"),
      })
  })

  test("a folder of stored responses that is too large for its disk is reported with a size that fits", () => {
    const MB = 1e6
    expect(freeSpace(300 * MB, 200 * MB, 500).state).toBe("ok")
    expect(freeSpace(299 * MB, 200 * MB, 500)).toMatchObject({
      state: "warning",
      fix: "set RAW_MB=249, or RAW_DIR to a folder on a larger disk",
    })
  })
})

test("doctor reports nothing about sources while the database is outdated or unreachable", async () => {
  await track(sql, ["ios"])
  await sql`alter table due rename to due_later`
  const { found } = await runDoctor()
  await sql`alter table due_later rename to due`
  expect(found).toEqual([])
  const unreachable = await runDoctor({ DATABASE_URL: "postgres://u:p@127.0.0.1:1/x", RAW_MB: "1" })
  expect(unreachable.found).toEqual([])
})

postgres("postgres: doctor reports the same findings for a server database, and the disk of RAW_DIR", async () => {
  await using server = await scratchDatabase("doctor_sources")
  const serverDatabase = await openDatabase({ databaseUrl: server.url, dataDir: "", as: "command", log: silentLog })
  await migrate(serverDatabase.sql, schemaFiles(), silentLog)
  await track(serverDatabase.sql, ["ios"])
  await searches(serverDatabase.sql, 100)
  await serverDatabase.close()
  const folder = scratch()
  const env = { DATABASE_URL: server.url, RAW_DIR: folder, RAW_MB: "1", UPSTREAM_GAPS_MS: "apps.apple.com=1000000" }
  const { all, found } = await runDoctor(env)
  expect(statesOf(found)).toMatchObject({ "apps.apple.com": "ok", budget: "warning", sources: "ok" })
  expect(found.find(({ thing }) => thing === "budget")!.fix).toStartWith("run EGRESS=second appmeter work on")
  expect(statesOf(all)).toMatchObject({ RAW_DIR: "ok", disk: "ok" })
  expect(all.find(({ thing }) => thing === "RAW_DIR")!.says).toBe(
    `0 MB of stored responses in ${folder}, at most 14 days old`,
  )
})
