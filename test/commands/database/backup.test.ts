import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { CommandProblem } from "../../../src/commands/cli/command.ts"
import { versionOf } from "../../../src/database/assets.ts"
import type { Sql } from "../../../src/database/types.ts"
import { scratchDatabase } from "../../database/server.ts"
import { until } from "../../jobs/platform.ts"
import { afterSlow, beforeSlow, cases, isQuick, LONG, long, longOnServer, slow } from "../../long.ts"
import { answer, appmeter, copyOf, dataFolder, removeFolders, scratch, startCommand } from "../child.ts"
import {
  type Filled,
  fill,
  fillUp,
  inFolder,
  inServer,
  livesOn,
  recorded,
  serviceOver,
  sumsOf,
  TABLES,
} from "../filled.ts"
import { bytesOf, flipBit, packed, recordsOf, resign, rowsOf } from "./backup-bytes.ts"

setDefaultTimeout(120_000)
const postgres = test.skipIf(isQuick || !process.env.DATABASE_URL)

let filled: Filled
/** A filled folder that is never opened; tests copy it. */
let sourceDir: string
let sums: Record<string, string>
/** A backup of the folder. */
let whole: string

beforeSlow(async () => {
  sourceDir = (await dataFolder()).DATA_DIR
  filled = await inFolder(sourceDir, async (sql) => {
    const filling = await fill(sql)
    // a restore would cancel these jobs, so the rows would differ
    await sql`delete from job where status in ('queued', 'running')`
    sums = await sumsOf(sql)
    return { ...filling, jobs: filling.jobs.filter((id) => !/queued|running/.test(id)) }
  })
  whole = join(scratch(), "whole.backup")
  await answer(["backup", whole], { env: { DATA_DIR: copyOf(sourceDir) } })
})
afterSlow(removeFolders)

describe("a backup restores", () => {
  slow("a folder restored from a backup has the same rows and answers, and accepts writes", async () => {
    const DATA_DIR = join(scratch(), "new")
    const restored = await answer(["restore", whole], { env: { DATA_DIR } })
    expect(restored.tables.map(({ name }: { name: string }) => name).sort()).toEqual(TABLES)
    // equal rows give equal answers, so only long runs compare the answers too
    const sourceRows = LONG ? await inFolder(copyOf(sourceDir), (sql) => recorded(sql, filled)) : null
    await inFolder(DATA_DIR, async (sql) => {
      expect(await sumsOf(sql)).toEqual(sums)
      if (sourceRows) expect(await recorded(sql, filled)).toEqual(sourceRows)
      await livesOn(sql, filled)
    })
  })

  postgres(
    "postgres: a folder's backup restores into PostgreSQL, and a backup of PostgreSQL restores into a folder",
    async () => {
      await using server = await scratchDatabase("restored")
      await answer(["restore", whole], { env: { DATABASE_URL: server.url } })
      await inServer(server.url, async (sql) => expect(await sumsOf(sql)).toEqual(sums))
      const secondBackup = join(scratch(), "back.backup")
      await answer(["backup", secondBackup], { env: { DATABASE_URL: server.url } })
      const DATA_DIR = scratch()
      await answer(["restore", secondBackup], { env: { DATA_DIR } })
      const sourceRows = await inServer(server.url, (sql) => recorded(sql, filled))
      await inFolder(DATA_DIR, async (sql) => {
        expect(await sumsOf(sql)).toEqual(sums)
        expect(await recorded(sql, filled)).toEqual(sourceRows)
        await livesOn(sql, filled)
      })
      await inServer(server.url, (sql) => livesOn(sql, filled))
    },
  )

  long("a restore marks queued and running jobs as unknown, so that no write is sent again", async () => {
    const [from, file, DATA_DIR] = [copyOf(sourceDir), join(scratch(), "jobs.backup"), join(scratch(), "jobs")]
    await inFolder(from, async (sql) => {
      const queued = sql`'queued', null, null, null, null::jsonb`
      for (const id of ["job_a", "job_b"])
        await sql`
          insert into job (
            id, workspace_id, key_id, request_id, action, scope, target, shown, args, status, lease, lease_until,
            finished_at, result
          )
          select ${id}, workspace_id, key_id, request_id, action, scope, ${id}, shown, args, ${queued}
          from job
          where status = 'done'`
      await sql`
        update job
        set status = 'running', lease = gen_random_uuid(), lease_until = now()
        where id = 'job_b'`
    })
    await answer(["backup", file], { env: { DATA_DIR: from } })
    await answer(["restore", file], { env: { DATA_DIR } })
    await inFolder(DATA_DIR, async (sql) => {
      const rows = await sql`select status, lease, error from job where id in ('job_a', 'job_b')`
      expect(rows.map((row) => ({ ...row }))).toEqual(Array(2).fill({ status: "unknown", lease: null, error: null }))
    })
  })

  slow("a restore refuses a database with a newer schema or from before 0.1.0", async () => {
    const { DATA_DIR } = await dataFolder()
    const expectRefusal = async (change: string) => {
      await inFolder(DATA_DIR, async (sql) => {
        await sql`insert into workspace (name, plan) values ('own', 'free') on conflict do nothing`
        await sql.unsafe(change)
      })
      const { code, err } = await appmeter(["restore", whole, "--force"], { env: { DATA_DIR } })
      expect(code).toBe(1)
      return err
    }
    const end = "; restore into an empty database instead; it is then migrated to this version\n"
    const place = `appmeter: the embedded database in ${DATA_DIR}`
    expect(await expectRefusal("insert into schema_migration values ('9999_later.sql', '')")).toBe(
      `${place} is newer than this program: it has migration 9999_later.sql${end}`,
    )
    expect(await expectRefusal("delete from schema_migration where name = 'baseline'")).toBe(
      `${place} was made by a version before 0.1.0-alpha, which has no upgrade${end}`,
    )
  })

  long("a backup restores into a database whose empty tables are of another version", async () => {
    const { DATA_DIR } = await dataFolder()
    await inFolder(DATA_DIR, (sql) => sql`update schema_migration set sha256 = 'x' where name = 'baseline'`)
    await answer(["restore", whole], { env: { DATA_DIR } })
    await inFolder(DATA_DIR, async (sql) => expect(await sumsOf(sql)).toEqual(sums))
  })
})

describe("while a server works", () => {
  long("a backup of an embedded database in use is a consistent snapshot", async () => {
    const DATA_DIR = copyOf(sourceDir)
    await inFolder(DATA_DIR, async (sql) => booksAddUp(await whileCharging(sql, { DATA_DIR })))
  })

  postgres("postgres: a backup is a consistent snapshot and does not block calls", async () => {
    await using server = await scratchDatabase("served")
    const env = { DATABASE_URL: server.url }
    await answer(["restore", whole], { env })
    await inServer(server.url, async (sql) => booksAddUp(await whileCharging(sql, env)))
  })

  slow("a restore is refused while a server uses the database", async () => {
    const DATA_DIR = copyOf(sourceDir)
    await inFolder(DATA_DIR, async () => {
      const { code, err } = await appmeter(["restore", whole, "--force"], { env: { DATA_DIR } })
      expect([code, err]).toEqual([
        1,
        `appmeter: a server is using the embedded database in ${DATA_DIR}. ` +
          "Stop it first, because a restore replaces the data that the server has cached\n",
      ])
    })
  })
})

describe("the file", () => {
  slow("a backup file is readable by its user only, describes its content and contains no key", async () => {
    expect(statSync(whole).mode & 0o777).toBe(0o600)
    const [head = "", ...rows] = gunzipSync(readFileSync(whole)).toString().split("\n")
    const { tables, migrations, ...rest } = JSON.parse(head)
    expect(rest).toMatchObject({ appmeter: "backup", format: 1, version: versionOf() })
    expect(migrations).toEqual(
      expect.arrayContaining([{ name: "baseline", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]),
    )
    const count = tables.reduce((sum: number, { rows }: { rows: number }) => sum + rows, 0)
    expect(rows).toHaveLength(count + 2)
    expect(rows.join("\n")).not.toContain(filled.writer.key)
    expect(rows.join("\n")).not.toContain(filled.token)
    expect(await answer(["restore", whole, "--check"])).toMatchObject({ whole: true, rows: count })
  })

  long("a backup overwrites a file only with --force, and a killed backup leaves the old file", async () => {
    const [DATA_DIR, folder] = [copyOf(sourceDir), scratch()]
    const file = join(folder, "a.backup")
    await inFolder(DATA_DIR, (sql) => fillUp(sql, cases(400, 700)))
    writeFileSync(file, "old")
    const refused = await appmeter(["backup", file], { env: { DATA_DIR } })
    expect([refused.code, refused.err]).toEqual([
      1,
      `appmeter: ${file} exists already; choose another name, or add --force to replace it\n`,
    ])
    const child = startCommand(["backup", file, "--force"], { env: { DATA_DIR } })
    await until(() => readdirSync(folder).length === 2)
    child.kill("SIGKILL")
    await child.exited
    expect(readFileSync(file, "utf8")).toBe("old")
    await answer(["backup", file, "--force"], { env: { DATA_DIR } })
    expect(readdirSync(folder)).toEqual(["a.backup"])
    expect(await answer(["restore", file, "--check"])).toMatchObject({ whole: true })
  })

  slow("a backup into a missing folder or of a missing database fails and creates nothing", async () => {
    const DATA_DIR = copyOf(sourceDir)
    const unwritable = await appmeter(["backup", "/nowhere/at/all.backup"], { env: { DATA_DIR } })
    expect([unwritable.code, unwritable.err]).toEqual([
      1,
      "appmeter: /nowhere/at/all.backup: the file or its folder does not exist\n",
    ])
    const missingDir = join(scratch(), "none")
    expect((await appmeter(["backup", whole, "--force"], { env: { DATA_DIR: missingDir } })).code).toBe(1)
    expect([existsSync(missingDir), existsSync(whole)]).toEqual([false, true])
  })
})

describe("a damaged backup file", () => {
  const text = () => gunzipSync(readFileSync(whole)).toString()
  const other = (from: string, to: string) => {
    expect(text()).toContain(from)
    return text().replace(from, to)
  }
  const damages: [what: string, bytes: () => Buffer, line: RegExp][] = [
    ["truncated", () => readFileSync(whole).subarray(0, -20), / is damaged: its end is missing; /],
    ["truncated between two lines", () => packed(text().split("\n").slice(0, -2).join("\n")), / is damaged: /],
    [
      "one bit is changed in gzip's own checksum and length",
      () => flipBit(readFileSync(whole), -8),
      / is damaged: it is not gzip or was altered; /,
    ],
    [
      "a plan is changed",
      () => packed(other('"plan":"free"', '"plan":"pro"')),
      / is damaged: its checksum does not match; /,
    ],
    [
      "a plan is changed, and the file's checksum is adjusted",
      () => packed(resign(other('"plan":"free"', '"plan":"pro"'))),
      / is damaged: the checksum of workspace does not match; /,
    ],
    ["data follows its end", () => packed(`${text()}{}\n`), / is damaged: there is data after its end; /],
    [
      "of a newer format",
      () => packed(other('"format":1', '"format":2')),
      / was written by Appmeter .*, which is newer; /,
    ],
    [
      "of a newer schema",
      () => packed(other('"migrations":[', '"migrations":[{"name":"9999_later.sql","sha256":""},')),
      / is newer than this program: .*9999_later\.sql/,
    ],
    [
      "of a version before 0.1.0",
      () => packed(other('"name":"baseline"', '"name":"0001_house.sql"')),
      / was made by a version before 0\.1\.0-alpha, which has no upgrade; restore it with the version that wrote it/,
    ],
    [
      "of another baseline",
      () => packed(text().replace(/("name":"baseline","sha256":")\w+/, "$1x")),
      / was made by a development version with another baseline schema; restore it with the version that wrote it/,
    ],
    ["without tables", () => packed(other('"tables":[', '"table":[')), / is damaged: its first line is invalid; /],
    ["not a backup", () => packed('{"a":1}\n'), / is not a backup of Appmeter\n$/],
    ["not gzip", () => Buffer.from("hello"), / is damaged: it is not gzip or was altered; /],
  ]
  slow.each(damages)("a damaged file restores nothing: %s", async (_, bytes, line) => {
    const [file, DATA_DIR] = [join(scratch(), "x.backup"), join(scratch(), "none")]
    writeFileSync(file, bytes())
    const { code, out, err } = await appmeter(["restore", file, "--force"], { env: { DATA_DIR } })
    expect([code, out, err]).toEqual([1, "", expect.stringMatching(line)])
    expect(err.split("\n")).toHaveLength(2)
    expect(existsSync(DATA_DIR)).toBe(false)
  })

  slow("a backup with one changed bit is refused or yields its original rows", async () => {
    const [bytes, file, rows] = [readFileSync(whole), join(scratch(), "x.backup"), await rowsOf(whole)]
    const lines = new Map<string, number>()
    const [ROUNDS, AT_START] = [cases(12, 160), cases(6, 60)]
    for (let round = 0; round < ROUNDS; round++) {
      // the first ten bytes are gzip's header, with a time and a system that are not read
      const at =
        round < AT_START ? Math.floor(round / 8) : Math.floor((bytes.length * (round - AT_START)) / (ROUNDS - AT_START))
      writeFileSync(file, flipBit(bytes, at, round % 8))
      const read = await rowsOf(file).catch((error: unknown) => error)
      const line = read instanceof CommandProblem ? read.message.replace(file, "it").split(":")[0]! : "read"
      if (line === "read") expect(read).toBe(rows)
      lines.set(line, (lines.get(line) ?? 0) + 1)
    }
    expect(lines.get("it is damaged")).toBeGreaterThan(ROUNDS - AT_START - 20)
    expect(lines.get("read") ?? 0).toBeLessThan(AT_START)
  })
})

describe("a restore into a database with data", () => {
  long("a restore replaces a filled database only with --force", async () => {
    const DATA_DIR = copyOf(sourceDir)
    const currentSums = await inFolder(DATA_DIR, async (sql) => {
      await sql`insert into workspace (name, plan) values ('later', 'pro')`
      await sql`insert into instance (key, value) values ('later', 'x')`
      return await sumsOf(sql)
    })
    const refused = await appmeter(["restore", whole], { env: { DATA_DIR } })
    expect([refused.code, refused.out]).toEqual([1, ""])
    expect(refused.err).toMatch(/Restoring deletes the data in the embedded .* more tables\)\. Nothing was done\./)
    expect(refused.err).toEndWith(" To skip this question, add --force\n")
    expect(await inFolder(DATA_DIR, sumsOf)).toEqual(currentSums)
    await answer(["restore", whole, "--force"], { env: { DATA_DIR } })
    await inFolder(DATA_DIR, async (sql) => {
      expect(await sumsOf(sql)).toEqual(sums)
      await livesOn(sql, filled)
    })
  })

  long("a killed restore leaves the database either unchanged or completely restored", async () => {
    const [big, file] = [copyOf(sourceDir), join(scratch(), "big.backup")]
    const newSums = await inFolder(big, async (sql) => {
      await fillUp(sql, cases(250, 500))
      return await sumsOf(sql)
    })
    await answer(["backup", file], { env: { DATA_DIR: big } })
    const outcomes: string[] = []
    for (const afterMs of LONG ? [0, 300, 1_000] : [0, 1_000]) {
      const DATA_DIR = copyOf(sourceDir)
      const child = startCommand(["restore", file, "--force"], { env: { DATA_DIR } })
      await until(() => child.exitCode !== null || bytesOf(DATA_DIR) > bytesOf(sourceDir) + 1_500_000)
      await Bun.sleep(afterMs)
      child.kill("SIGKILL")
      await child.exited
      const found = JSON.stringify(await inFolder(DATA_DIR, sumsOf))
      outcomes.push(found === JSON.stringify(sums) ? "old" : found === JSON.stringify(newSums) ? "new" : found)
    }
    expect(outcomes.filter((outcome) => outcome !== "old" && outcome !== "new")).toEqual([])
    expect(outcomes[0]).toBe("old")
  })

  longOnServer("postgres: a database is unchanged after a killed restore", async () => {
    await using server = await scratchDatabase("killed")
    const [big, file, env] = [copyOf(sourceDir), join(scratch(), "big.backup"), { DATABASE_URL: server.url }]
    await inFolder(big, (sql) => fillUp(sql, 2_000))
    await answer(["backup", file], { env: { DATA_DIR: big } })
    await answer(["restore", whole], { env })
    const child = startCommand(["restore", file, "--force"], { env })
    const isLocked = async () =>
      (
        await server.admin`
        select
        from pg_locks l
        join pg_stat_activity a using (pid)
        where a.datname like 'appmeter_test_%_killed' and l.mode = 'AccessExclusiveLock' and l.granted`
      ).length > 5
    await until(isLocked)
    child.kill("SIGKILL")
    await child.exited
    await until(async () => !(await isLocked()))
    await inServer(server.url, async (sql) => {
      expect(await sumsOf(sql)).toEqual(sums)
      await livesOn(sql, filled)
    })
  })
})

/** Creates a backup while calls are charged, and returns the file. */
async function whileCharging(sql: Sql, env: Record<string, string>): Promise<string> {
  const service = serviceOver(sql)
  const { key } = filled.writer
  const file = join(scratch(), "busy.backup")
  let busy = true
  let charged = 0
  const charging = (async () => {
    while (busy) charged += (await service.call("/v1/apps", { key })).status === 200 ? 1 : 0
  })()
  await until(() => charged > 2)
  const before = charged
  await answer(["backup", file], { env }).finally(() => {
    busy = false
  })
  await charging
  expect(charged).toBeGreaterThan(before)
  return file
}

/** Checks that the ledger in the file adds up. Another test shows that a restore yields the rows of the file. */
async function booksAddUp(file: string): Promise<void> {
  const rowsIn = async (table: string) =>
    (await recordsOf(file, table)).filter(({ workspace_id }) => Number(workspace_id) === filled.writer.workspace)
  const sumOf = (rows: readonly Record<string, unknown>[], column: string) =>
    rows.reduce((sum, row) => sum + Number(row[column]), 0)
  const usedSum = sumOf(await rowsIn("account"), "used")
  expect(usedSum).toBeGreaterThan(1)
  expect([sumOf(await rowsIn("ledger"), "cost"), sumOf(await rowsIn("key_month"), "used")]).toEqual([usedSum, usedSum])
}
