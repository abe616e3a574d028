import { afterAll, expect, test } from "bun:test"
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { slow } from "../long.ts"
import { scratchFolder, startHolder } from "./processes.ts"

const { folder, remove } = scratchFolder()
afterAll(remove)

const command = (dataDir: string) => openDatabase({ as: "command", dataDir, log: silentLog })

slow(
  "a first start that is killed at any time does not prevent the next start",
  async () => {
    const dataDir = join(folder, "first")
    for (const afterMs of [150, 400, 800]) {
      const holder = startHolder("server", dataDir)
      await Bun.sleep(afterMs)
      await holder.end()
    }
    const holder = startHolder("server", dataDir)
    await holder.opened()
    expect(await holder.end("SIGTERM")).toEqual(["open", "closed"])
    expect(readdirSync(dataDir).sort()).toEqual(["postgres", "server.lock"])
  },
  40_000,
)

slow.each([
  ["empty, as a kill leaves it", ""],
  ["zeros, as a power cut does", "\0".repeat(40)],
])("a pid file that the last process left (%s) does not prevent a start", async (_, content) => {
  const dataDir = join(folder, `named-${content.length}`)
  const first = await command(dataDir)
  await first.sql`create table kept (n int)`
  await first.close()
  writeFileSync(join(dataDir, "postgres/postmaster.pid"), content)
  const second = await command(dataDir)
  const [row] = await second.sql<{ n: number }[]>`select count(*)::int as n from kept`
  expect(row).toEqual({ n: 0 })
  await second.close()
})

slow(
  "a second server on a directory is refused, and a command there uses the first server's database",
  async () => {
    const dataDir = join(folder, "first")
    const holder = startHolder("server", dataDir)
    await holder.opened()

    const startedAt = performance.now()
    const second = startHolder("server", dataDir)
    expect(await second.ended()).toEqual([`DatabaseProblem: the data directory ${dataDir} is in use by another server`])
    expect(performance.now() - startedAt).toBeLessThan(3_000)

    const mode = (name: string) => statSync(join(dataDir, name)).mode & 0o777
    expect([mode("."), mode("postgres"), mode("control.sock"), mode("server.lock")]).toEqual([
      0o700, 0o700, 0o600, 0o600,
    ])

    const { sql, close } = await command(dataDir)
    await sql`insert into written (batch) select 7 from generate_series(1, 3)`
    const rows = await Promise.all(
      Array.from({ length: 50 }, (_, i) => sql`select ${i}::int as i, count(*) as n from written`),
    )
    expect(rows.map(([row]) => row)).toEqual(Array.from({ length: 50 }, (_, i) => ({ i, n: 3 })))
    await sql.begin((tx) => tx`delete from written`)
    const [big] = await sql`select repeat('z', 3000000) as text`
    expect(big!.text).toHaveLength(3_000_000)
    await close()
    expect(await holder.end("SIGTERM")).toEqual(["open", "closed"])
  },
  20_000,
)

slow(
  "a command opens an unused directory, and a second command waits until the first command has closed it",
  async () => {
    const dataDir = join(folder, "first")
    const first = await command(dataDir)
    const second = startHolder("command", dataDir, "done")
    await first.sql`insert into written (batch) values (1)`
    await Bun.sleep(500)
    expect(second.lines).toEqual([])
    await first.close()
    expect(await second.ended()).toEqual(["open"])
  },
  20_000,
)

test("an unusable directory is refused with a one-line message", async () => {
  const refusal = (dataDir: string) =>
    command(dataDir).then(
      () => "opened",
      (error) => `${error.name}: ${error.message}`,
    )
  const file = join(folder, "file")
  writeFileSync(file, "")
  expect(await refusal(join(file, "inside"))).toStartWith(
    `DatabaseProblem: the data directory ${file}/inside cannot be opened`,
  )
  const other = join(folder, "other")
  mkdirSync(join(other, "postgres"), { recursive: true })
  writeFileSync(join(other, "postgres", "PG_VERSION"), "17\n")
  const line = await refusal(other)
  expect(line).toStartWith(`DatabaseProblem: ${other}/postgres has data of PostgreSQL 17`)
  expect(line.split("\n")).toHaveLength(1)
})

slow("a command of root refuses to open the database of another user and changes no file", async () => {
  if (process.getuid?.() !== 0) return console.log("not checked here: only root can open another user's files")
  const dataDir = join(folder, "anothers")
  await (await command(dataDir)).close()
  chownSync(join(dataDir, "postgres"), 65_534, 65_534)
  const before = readdirSync(dataDir, { recursive: true }).sort()
  const line = await command(dataDir).then(
    () => "opened",
    (error) => error.message,
  )
  expect(line).toContain("belongs to user 65534")
  expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(before)
})

slow(
  "a directory with too long a path for a socket can be used, even after kill -9",
  async () => {
    const dataDir = join(folder, "long-".repeat(40), "data")
    mkdirSync(join(folder, "long-".repeat(40)))
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const holder = startHolder("server", dataDir)
      await holder.opened()
      expect(existsSync(join(dataDir, "control.sock"))).toBe(true)
      const { sql, close } = await command(dataDir)
      expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }])
      await close()
      await holder.end(signal)
      expect(existsSync(join(dataDir, "control.sock"))).toBe(signal === "SIGKILL")
    }
  },
  40_000,
)

slow("a query for a few keys uses the index even if the table was empty when it was analyzed", async () => {
  const { sql, close } = await command(join(folder, "first"))
  await sql`create temporary table due_so (kind text, subject text, at timestamptz, primary key (kind, subject))`
  await sql`analyze due_so`
  await sql`insert into due_so select 'search', 'keyword ' || n, now() from generate_series(1, 300) n`
  const plan = await sql<{ "QUERY PLAN": string }[]>`
    explain select k.term, d.at
    from unnest(${["keyword 1", "keyword 2"]}::text[]) k (term)
    cross join lateral (
      select at
      from due_so
      where (kind, subject) = ('search', k.term)
      offset 0
    ) d`
  await close()
  const steps = plan.map((row) => row["QUERY PLAN"]).join("\n")
  expect(steps).toContain("Index Scan using due_so_pkey")
  expect(steps).not.toContain("Seq Scan")
})
