import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clock } from "../../src/commands/doctor/database.ts"
import type { Finding } from "../../src/commands/doctor/finding.ts"
import { size, space } from "../../src/commands/doctor/folder.ts"
import { runtime } from "../../src/commands/doctor/program.ts"
import { checkSettings } from "../../src/commands/doctor/settings.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { EMBEDDED_MAJOR } from "../../src/database/data-version.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { readSettings } from "../../src/settings/settings.ts"
import { scratchDatabase } from "../database/server.ts"
import { slow } from "../long.ts"
import { appsReading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { appmeter, dataFolder, openFolder, removeFolders, scratch } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)
const postgres = test.skipIf(!process.env.DATABASE_URL)

async function runDoctor(
  env: Record<string, string>,
): Promise<{ code: number; states: Record<string, string>; findingOf: FindFinding }> {
  const { code, out, err } = await appmeter(["doctor", "--json"], { env })
  expect(err).toBe("")
  const { healthy, findings } = JSON.parse(out) as { healthy: boolean; findings: Finding[] }
  expect(healthy).toBe(code === 0)
  for (const { state, fix } of findings) expect([state, fix !== null]).toEqual([state, state !== "ok"])
  const states = Object.fromEntries(findings.map(({ thing, state }) => [thing, state]))
  return { code, states, findingOf: (findingOf) => findings.find((finding) => finding.thing === findingOf)! }
}

type FindFinding = (thing: string) => Finding

describe("the embedded database", () => {
  test("doctor finds no problem before the first start and creates nothing", async () => {
    const DATA_DIR = join(scratch(), "none")
    const { code, findingOf } = await runDoctor({ DATA_DIR })
    expect([code, findingOf("database").says]).toEqual([0, "embedded, not created yet; the first start creates it"])
    expect(existsSync(DATA_DIR)).toBe(false)
  })

  slow("doctor reaches an embedded database with and without a server, and prints one line per check", async () => {
    const env = await dataFolder()
    const free = await runDoctor(env)
    expect(free.code).toBe(0)
    expect(free.findingOf("database").says).toBe(`PostgreSQL 18.6, the embedded database in ${env.DATA_DIR}`)
    const database = await openFolder(env)
    const { code, states, findingOf } = await runDoctor(env)
    const { out } = await appmeter(["doctor"], { env })
    await database.close()
    expect([code, Object.keys(states)]).toEqual([
      0,
      [
        "runtime",
        "driver",
        "open files",
        "settings",
        "PUBLIC_URL",
        "TRUSTED_PROXIES",
        "DATA_DIR",
        "size",
        "disk",
        "RAW_DIR",
        "backups",
        "database",
        "schema",
        "clock",
        "secrets",
        "market",
        "limits",
        "sources",
      ],
    ])
    expect(new Set(Object.values(states))).toEqual(new Set(["ok"]))
    expect(findingOf("database").says).toEndWith(", in use by a server")
    expect(out.split("\n")).toHaveLength(Object.keys(states).length + 2)
    expect(out).toMatch(/^STATE +CHECK +RESULT\nok +runtime +Bun \d/)
  })

  slow("doctor --rebuild corrects wrong current values while a server runs, and a second run finds none", async () => {
    const env = await dataFolder()
    const database = await openFolder(env)
    const reading = { kind: "search", source: "import", platform: "ios", storefront: "us", term: "tea" } as const
    const rest = { depth: 1, complete: true, results: [], parser: 1, origin: "own", sha256: new Uint8Array(32) }
    await record(database.sql, [{ ...reading, ...rest, seenAt: new Date("2025-11-19T10:00:00Z") }])
    const seenAt = new Date("2025-11-19T10:00:00Z")
    const review = { id: "1", stars: 5, text: "Good", at: seenAt }
    const page = {
      kind: "reviews",
      source: "apple-reviews",
      platform: "ios",
      storefront: "us",
      storeId: "10001",
    } as const
    const { parser, origin, sha256 } = rest
    await record(database.sql, [{ ...page, reviews: [review], parser, origin, sha256, seenAt }])
    await database.sql`delete from review_day`
    await database.sql`delete from list_now`
    await record(database.sql, [appsReading("2025-11-19T10:00:00Z", [{ id: "10002", name: "Tea" }])])
    await database.sql`delete from app_text`
    const rebuilt = async () => {
      const { code, out } = await appmeter(["doctor", "--rebuild", "--json"], { env })
      const { findings } = JSON.parse(out) as { findings: Finding[] }
      return [
        code,
        ...findings.filter(({ thing }) => thing === "derived").map(({ state, says }) => `${state}: ${says}`),
      ]
    }
    const plain = await runDoctor(env)
    const first = await rebuilt()
    const days = await database.sql`select day from list_now`
    const texts = await database.sql`select folded from app_text`
    const second = await rebuilt()
    await database.close()
    expect(plain.states.derived).toBeUndefined()
    expect(first).toEqual([
      0,
      "warning: corrected values that differed from the readings: results of 1 keywords, figures of 0 keywords, " +
        "1 review days or feeds, 0 chart places or first days, 0 report days or product prices of accounts, " +
        "search names of 1 apps, 0 duplicate rating counts",
    ])
    expect(days.map(({ day }) => day)).toEqual(["2025-11-19"])
    expect(texts.map(({ folded }) => folded)).toEqual(["\n tea\n\t\n"])
    expect(second).toEqual([0, "ok: current values match the readings"])
  })

  slow(
    "a data folder that others can read is a warning; a database folder that others can read is a problem",
    async () => {
      const { DATA_DIR } = await dataFolder()
      const database = await openFolder({ DATA_DIR })
      chmodSync(DATA_DIR, 0o755)
      const outer = await runDoctor({ DATA_DIR })
      expect([outer.code, outer.findingOf("DATA_DIR")]).toEqual([
        0,
        {
          thing: "DATA_DIR",
          state: "warning",
          says: expect.stringContaining("(755)"),
          fix: `run: chmod 700 "${DATA_DIR}"`,
        },
      ])
      chmodSync(join(DATA_DIR, "postgres"), 0o755)
      const inner = await runDoctor({ DATA_DIR })
      expect([inner.code, inner.findingOf("DATA_DIR").state]).toEqual([1, "problem"])
      await database.close()
    },
  )

  slow("a schema of another version is reported as a problem with a fix, and is not changed", async () => {
    const { DATA_DIR } = await dataFolder()
    const examinedAs = async (change: (sql: Sql) => Promise<unknown>) => {
      const database = await openFolder({ DATA_DIR })
      await change(database.sql)
      await database.close()
      const { code, findingOf } = await runDoctor({ DATA_DIR })
      expect(code).toBe(1)
      return findingOf("schema")
    }
    expect(
      await examinedAs((sql) => sql`insert into schema_migration (name, sha256) values ('9999_later.sql', '')`),
    ).toEqual({
      thing: "schema",
      state: "problem",
      says: "is newer than this program: it has migration 9999_later.sql",
      fix: "start a newer version",
    })
    expect(await examinedAs((sql) => sql`delete from schema_migration where name = 'baseline'`)).toMatchObject({
      says: "was made by a version before 0.1.0-alpha, which has no upgrade",
    })
    expect(await examinedAs((sql) => sql`delete from schema_migration`)).toMatchObject({
      says: "has no tables yet",
      fix: "run: appmeter migrate",
    })
  })

  slow.each([
    [EMBEDDED_MAJOR + 1, /start the newer version that made it, or choose another DATA_DIR$/],
    [EMBEDDED_MAJOR - 1, /run appmeter backup FILE with the version that made it, then /],
  ])(
    "every command shows the remedy for a data folder of PostgreSQL %d and leaves the folder unchanged",
    async (major, remedy) => {
      const { DATA_DIR } = await dataFolder()
      const file = join(DATA_DIR, "postgres", "PG_VERSION")
      writeFileSync(file, `${major}\n`)
      const { code, findingOf } = await runDoctor({ DATA_DIR })
      expect([code, findingOf("database").says]).toEqual([1, expect.stringMatching(remedy)])
      for (const command of [["serve"], ["workspace", "list"]]) {
        const ended = await appmeter(command, { env: { DATA_DIR, PORT: "0" } })
        expect([ended.code, ended.out, ended.err.trimEnd()]).toEqual([1, "", expect.stringMatching(remedy)])
      }
      writeFileSync(file, `${EMBEDDED_MAJOR}\n`)
      expect((await runDoctor({ DATA_DIR })).code).toBe(0)
    },
  )
})

describe("unreachable services", () => {
  slow("an unreachable database or Redis is reported without passwords, and other checks still run", async () => {
    const env = {
      DATABASE_URL: "postgres://user:canary@127.0.0.1:1/name",
      REDIS_URL: "redis://:canary@127.0.0.1:1",
      RAW_MB: "1",
    }
    const { code, states, findingOf } = await runDoctor(env)
    expect([code, states]).toEqual([
      1,
      {
        runtime: "ok",
        driver: "ok",
        "open files": "ok",
        settings: "ok",
        PUBLIC_URL: "ok",
        TRUSTED_PROXIES: "ok",
        RAW_DIR: "ok",
        disk: "ok",
        backups: "ok",
        database: "problem",
        market: "ok",
        limits: "problem",
      },
    ])
    expect(findingOf("database").says).toBe("the database at 127.0.0.1:1/name is not reachable: nothing listens there")
    expect(findingOf("limits").says).toStartWith("the Redis at 127.0.0.1:1 does not answer")
    expect(findingOf("database").fix).toStartWith(
      "start it and check that it listens: pg_isready -h 127.0.0.1 -p 1; if",
    )
    expect(findingOf("limits").fix).toStartWith(
      "start it and check that it answers PONG: redis-cli -h 127.0.0.1 -p 1 ping;",
    )
    expect(findingOf("disk").says).toEndWith("free on the disk of RAW_DIR")
    expect(JSON.stringify([findingOf("database"), findingOf("limits")])).not.toContain("canary")
  })

  slow("an unreachable Upstash is reported as a problem without its token", async () => {
    const upstash = { UPSTASH_REDIS_REST_URL: "http://127.0.0.1:1", UPSTASH_REDIS_REST_TOKEN: "canary" }
    const { code, findingOf } = await runDoctor({ ...upstash, DATA_DIR: join(scratch(), "none") })
    expect([code, findingOf("limits").fix]).toEqual([
      1,
      expect.stringContaining('curl -H "authorization: Bearer $UPSTASH_REDIS_REST_TOKEN" http://127.0.0.1:1/ping'),
    ])
  })
})

postgres("postgres: doctor reports a missing database, missing migrations, and then a reachable database", async () => {
  await using server = await scratchDatabase("doctor")
  const env = { DATABASE_URL: server.url }
  const missing = new URL(server.url)
  missing.pathname = "/appmeter_none"
  expect((await runDoctor({ DATABASE_URL: missing.href })).findingOf("database").fix).toMatch(
    /^run: createdb -h \S+ -p \d+ appmeter_none$/,
  )
  expect((await runDoctor(env)).findingOf("schema")).toMatchObject({ state: "problem", fix: "run: appmeter migrate" })
  const { sql, close } = await openDatabase({ databaseUrl: server.url, dataDir: "", as: "command", log: silentLog })
  await migrate(sql, (await import("../../src/commands/cli/with-database.ts")).schemaFiles(), silentLog)
  await close()
  const { code, findingOf, states } = await runDoctor(env)
  expect([code, findingOf("database").says]).toEqual([
    0,
    expect.stringMatching(/^PostgreSQL \d+.*, the database at .*\/appmeter_/),
  ])
  expect(states).not.toHaveProperty("DATA_DIR")
})

describe("valid settings that are probably a mistake", () => {
  const checkEnv = (env: Record<string, string>) => checkSettings({ settings: readSettings(env, () => "") })
  const states = (env: Record<string, string>) =>
    Object.fromEntries(checkEnv(env).map(({ thing, state }) => [thing, state]))

  test("a misspelt setting is reported", () => {
    expect(checkEnv({ PUBLIC_ULR: "https://x.example" })[0]).toEqual({
      thing: "settings",
      state: "warning",
      says: "PUBLIC_ULR is not a setting",
      fix: "rename it to PUBLIC_URL, or remove it from the environment",
    })
  })

  test.each([
    [{}, "ok"],
    [{ HOST: "::1" }, "ok"],
    [{ HOST: "0.0.0.0" }, "warning"],
    [{ HOST: "ranks.example.com" }, "warning"],
    [{ HOST: "0.0.0.0", PUBLIC_URL: "https://ranks.example.com" }, "ok"],
    [{ PUBLIC_URL: "http://ranks.example.com" }, "warning"],
    [{ PUBLIC_URL: "http://203.0.113.7" }, "warning"],
    [{ PUBLIC_URL: "http://[2001:db8::1]" }, "warning"],
    [{ PUBLIC_URL: "http://192.168.1.4:8787" }, "ok"],
    [{ PUBLIC_URL: "http://[fd00::1]" }, "ok"],
    [{ PUBLIC_URL: "http://ranks.internal" }, "ok"],
    [{ PUBLIC_URL: "http://appmeter:8787" }, "ok"],
  ])("the settings %j give PUBLIC_URL the state %s", (env, state) => {
    expect(states(env).PUBLIC_URL).toBe(state as Finding["state"])
  })

  test.each([
    [{}, "ok"],
    [{ PUBLIC_URL: "https://ranks.example.com" }, "warning"],
    [{ PUBLIC_URL: "https://ranks.example.com", TRUSTED_PROXIES: "10.0.0.0/8" }, "ok"],
    [{ TRUSTED_PROXIES: "10.0.0.1,0.0.0.0/0" }, "problem"],
    [{ TRUSTED_PROXIES: "::/0" }, "problem"],
  ])("the settings %j give TRUSTED_PROXIES the state %s", (env, state) => {
    expect(states(env).TRUSTED_PROXIES).toBe(state as Finding["state"])
  })
})

test("doctor has thresholds for clock difference, database size, free space and version", () => {
  const GB = 2 ** 30
  expect([clock(2_000), clock(-2_000), clock(2_001), clock(-2_001)].map(({ state }) => state)).toEqual([
    "ok",
    "ok",
    "warning",
    "warning",
  ])
  expect(clock(-3_500).says).toBe("the database is 3.5 s behind this machine")
  expect([size(10 * GB - 1).state, size(10 * GB).fix]).toEqual(["ok", "run: appmeter move-database --to URL"])
  expect([space(GB - 1, 0), space(3 * GB, 4 * GB), space(4 * GB, 4 * GB)].map(({ state }) => state)).toEqual([
    "problem",
    "warning",
    "ok",
  ])
  expect(["1.4.4", "1.4.5", "1.10.0", "2.0.0", "0.9.9"].map((version) => runtime(version).state)).toEqual([
    "problem",
    "ok",
    "ok",
    "ok",
    "problem",
  ])
})
