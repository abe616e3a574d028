import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openCluster } from "../../src/database/embedded/cluster.ts"
import { findTemplate, makeTemplateApart, templateOf } from "../../src/database/embedded/template.ts"
import { long, slow } from "../long.ts"
import { scratchFolder } from "./processes.ts"

setDefaultTimeout(60_000)

const { folder, remove } = scratchFolder()
afterAll(remove)

long("a template is the directory of a cleanly stopped database, without pid and option files", async () => {
  const template = await makeTemplateApart()
  const files = await new Bun.Archive(template).files()
  expect([...files.keys()].filter((name) => /\.pid$|\.opts$|(^|\/)\.\.?(\/|$)/.test(name))).toEqual([])
  const state = Buffer.from(await files.get("global/pg_control")!.arrayBuffer()).readUInt32LE(16)
  expect(state).toBe(SHUT_DOWN)
  expect(await files.get("PG_VERSION")!.text()).toBe("18\n")
})

const onLinux = process.platform === "linux" ? long : test.skip

onLinux("the process that makes a template takes less than 300 MB of memory", async () => {
  const program = join(folder, "peak.ts")
  const template = join(import.meta.dirname, "../../src/database/embedded/template.ts")
  writeFileSync(
    program,
    `import { readFileSync } from "node:fs"
import { makeTemplateApart } from ${JSON.stringify(template)}
const template = await makeTemplateApart()
const [, kb] = /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))
console.log(JSON.stringify({ bytes: template.length, peakMb: Number(kb) / 1_024 }))`,
  )
  const { bytes, peakMb } = await Bun.$`${process.execPath} ${program}`.json()
  rmSync(program)
  expect(bytes).toBeGreaterThan(10_000_000)
  expect(peakMb).toBeLessThan(300)
})

// DBState in PostgreSQL's pg_control.h: 1 is "shut down", 6 "in production".
const SHUT_DOWN = 1

slow("a new directory is a private copy of the template, and an unfinished directory is removed", async () => {
  const unfinished = join(folder, "postgres.new-1")
  mkdirSync(unfinished)
  writeFileSync(join(unfinished, "PG_VERSION"), "18\n")
  const directory = join(folder, "postgres")
  const cluster = await openCluster(directory)
  expect(readdirSync(folder)).toEqual(["postgres"])
  const settings = [
    "fsync",
    "wal_sync_method",
    "full_page_writes",
    "wal_segment_size",
    "data_checksums",
    "max_wal_size",
  ]
  const { rows } = await cluster.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name = any($1) order by name",
    [settings],
  )
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    data_checksums: "on",
    fsync: "on",
    full_page_writes: "on",
    max_wal_size: "256",
    wal_segment_size: "1048576",
    wal_sync_method: "fsync",
  })
  const { rows: databases } = await cluster.query("select datname from pg_database")
  expect(databases).toEqual([{ datname: "postgres" }])
  await cluster.close()
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" })
  const modes = new Set(
    // PostgreSQL rewrites its catalog cache.
    names
      .filter((name) => !name.endsWith("pg_internal.init"))
      .map((name) => {
        const stat = statSync(join(directory, name))
        return `${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o777).toString(8)}`
      }),
  )
  expect([...modes].sort()).toEqual(["file 600", "folder 700"])
})

long("two directories from one template are independent", async () => {
  const clusters = await Promise.all(["a", "b"].map((name) => openCluster(join(folder, name))))
  await clusters[0]!.exec("create table mine (id int)")
  const { rows } = await clusters[1]!.query("select to_regclass('mine') as mine")
  expect(rows).toEqual([{ mine: null }])
  for (const cluster of clusters) await cluster.close()
})

slow("a checkout caches one template, which belongs to the current schema", async () => {
  const template = await templateOf()
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
  expect(digest(findTemplate()!)).toBe(digest(template))
  const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"))
  const cachedNames = readdirSync(join(import.meta.dirname, "../../node_modules/.cache"))
  // There is only one cached template, however many earlier schemas there were.
  const name = `appmeter-template-${dependencies["@electric-sql/pglite"]}-`
  expect(cachedNames.filter((entry) => entry.startsWith("appmeter-template-"))).toEqual([
    expect.stringMatching(new RegExp(`^${RegExp.escape(name)}[0-9a-f]{12}\\.tar\\.zst$`)),
  ])
})
