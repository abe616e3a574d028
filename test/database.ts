import { hash } from "node:crypto"
import { mkdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { readTree } from "../src/database/assets.ts"
import { openDatabase } from "../src/database/connect.ts"
import { type EmbeddedDatabase, openEmbedded } from "../src/database/embedded/open.ts"
import { findTemplate, templateOf } from "../src/database/embedded/template.ts"
import type { TurnLimits } from "../src/database/embedded/turns.ts"
import { migrate } from "../src/database/migrate.ts"
import type { Database, Sql } from "../src/database/types.ts"
import { silentLog } from "../src/lib/log.ts"
import { QUIETLY } from "./quiet-worker.ts"

/**
 * Returns an empty, migrated database: the embedded one in memory, or a scratch database on the server of DATABASE_URL.
 * There is one database per test process, so call this in `beforeAll`. The next call empties the database. It may
 * already have partitions of a few months.
 */
export async function freshDatabase(): Promise<Sql> {
  if (opened === undefined) return await emptied()
  try {
    return await emptied()
  } catch {
    // the next file must not fail because an earlier one damaged the database
    await reopened()
    return await emptied()
  }
}

/** Closes the database, so that the next call opens a new one. */
async function reopened(): Promise<void> {
  await opened?.then(({ close }) => close()).catch(() => {})
  opened = migrated = undefined
  counted = null
}

/** Returns the URL of the scratch database for other processes. */
export function scratchUrl(sql: Sql): string {
  const url = new URL(process.env.DATABASE_URL as string)
  url.pathname = `/${sql.options.database}`
  return url.href
}

async function emptied(): Promise<Sql> {
  opened ??= process.env.DATABASE_URL ? openScratch(process.env.DATABASE_URL) : openQuiet()
  const { sql, kind } = await opened
  const counts = kind === "embedded" ? await readCounts(sql) : null
  const found = counts && isAsCounted(counts) ? counts : await stateOf(sql)
  if (migrated?.schema === found.schema) {
    await emptyTables(sql, found, migrated)
    counted = counts
    return ownHandle(sql)
  }
  if (kind === "embedded" && migrated !== undefined) {
    // the template includes the schema, so opening another database takes a third of the time of creating the schema
    // again
    await reopened()
    return await emptied()
  }
  if (kind === "postgres") {
    await sql`drop schema if exists public cascade`
    await sql`create schema public`
  }
  await migrate(sql, readTree("sql", ".sql"), silentLog)
  migrated = await stateOf(sql)
  planned = (
    await sql<{ of: string }[]>`
    select json_agg(json_build_array(oid::int, relpages, reltuples))::text as of
    from pg_class
    where relnamespace = 'public'::regnamespace and not relispartition and relkind in ('r', 'i')`
  )[0]!.of
  counted = counts && (await readCounts(sql))
  return ownHandle(sql)
}

/**
 * Returns a new handle for each file. Caches of a process use the handle as their key, so nothing is left from the file
 * before. Work that a file leaves running finds the database closed and cannot touch the rows of later files.
 */
export function ownHandle(sql: Sql, file = Bun.main): Sql {
  const assertOwn = () => {
    if (Bun.main !== file) throw Object.assign(new Error(`${file} is over`), { code: "CONNECTION_ENDED" })
  }
  return new Proxy(sql, {
    apply(target, self, args) {
      assertOwn()
      return Reflect.apply(target, self, args)
    },
    get(target, name) {
      if (name === "begin" || name === "unsafe" || name === "reserve") assertOwn()
      return Reflect.get(target, name)
    },
  })
}

let opened: Promise<Database> | undefined
/** The state right after the migrations. */
let migrated: State | undefined
/** The planner statistics of each table and index at that time, as JSON. */
let planned = "[]"
/** The embedded database's counters when the tables were last emptied. */
let counted: Counts | null = null

interface State {
  /**
   * Digest that shows whether a test changed the schema. If so, the schema is created again, which takes half a second.
   * It does not cover partitions.
   */
  schema: string
  filled: string[]
  /** Tables with so many rows that they must be truncated, because scans read deleted rows until then. */
  long: string[]
  /** Partitions, four per month. */
  partitions: string[]
  /** Checksum of the planner statistics. */
  plan: string
}

async function stateOf(sql: Sql): Promise<State> {
  const [row] = await sql<State[]>`
    with every as materialized (
      select *, case when relkind = 'r' then pg_relation_size(oid) else 0 end as size
      from pg_class
      where relnamespace = 'public'::regnamespace
    ), own as materialized (
      select *
      from every
      where not relispartition
    )
    select md5(string_agg(part, ' ' order by part)) as schema,
      coalesce((select array_agg(relname::text) from every where size > 0 and relname <> 'schema_migration'),
        '{}') as filled,
      coalesce((select array_agg(relname::text) from every where size > ${CUT_FROM}), '{}') as long,
      coalesce((select array_agg(relname::text) from every where relkind = 'r' and relispartition), '{}') as partitions,
      (
        select sum(oid::int8 * (1 + relpages) + reltuples::int8)::text
        from own
        where relkind in ('r', 'i')
      ) as plan
    from (
      select concat_ws(' ', oid, relname, relnatts, relchecks) as part from own
      union all
      select concat_ws(' ', oid, xmin, tgenabled) from pg_trigger
      where tgrelid in (select oid from own) and tgparentid = 0
      union all
      select concat_ws(' ', oid, convalidated) from pg_constraint where conrelid in (select oid from own)
      union all
      select concat_ws(' ', oid, xmin) from pg_rewrite where ev_class in (select oid from own)
      union all
      select concat_ws(' ', oid, xmin) from pg_proc where pronamespace = 'public'::regnamespace
    ) p`
  return row!
}

const CUT_FROM = 100_000

interface Counts extends State {
  /** Number of catalog changes. While this number stays the same, the schema is unchanged. */
  catalogue: string
  inserted: Map<string, string>
}

/**
 * Reads the state from the embedded database's own counters at a fifth of the cost, because table sizes come from a
 * file system in JavaScript, and there are 120 tables. One backend does all work, so no counter is late.
 */
async function readCounts(sql: Sql): Promise<Counts> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<(Omit<Counts, "inserted"> & { inserted: Record<string, string> | null })[]>`
    select (
        select sum(
          pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid)
        )::text
        from unnest('{pg_attribute,pg_type,pg_trigger,pg_constraint,pg_rewrite,pg_proc}'::regclass[]) oid
      ) as catalogue,
      (
        select sum(oid::int8 * (1 + relpages) + reltuples::int8)::text
        from pg_class
        where relnamespace = 'public'::regnamespace and not relispartition and relkind in ('r', 'i')
      ) as plan,
      json_object_agg(relname, pg_stat_get_tuples_inserted(oid)) as inserted,
      coalesce(array_agg(relname::text) filter (where relispartition), '{}') as partitions
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`
  // empty if a test dropped every table
  const inserted = new Map(Object.entries(row!.inserted ?? {}))
  const filled = [...inserted].filter(([name, count]) => count !== counted?.inserted.get(name)).map(([name]) => name)
  const long = await sql<{ name: string }[]>`
    select relname::text as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relname = any(${filled}::text[])
      and pg_relation_size(oid) > ${CUT_FROM}`
  return { ...row!, schema: migrated?.schema ?? "", inserted, filled, long: long.map(({ name }) => name) }
}

const isAsCounted = ({ catalogue }: Counts) => catalogue === counted?.catalogue

/**
 * Creating the partitions of a month takes 20 ms, and most tests use the same one or two months. More partitions make
 * every plan longer.
 */
const KEPT_PARTITIONS = 12

/** Restores the state after the migrations: only their rows, ids from 1, and the planner statistics of that time. */
async function emptyTables(sql: Sql, { filled, long, partitions, plan }: State, was: State): Promise<void> {
  const dropped = new Set(partitions.length > KEPT_PARTITIONS ? partitions : [])
  const quoted = (name: string) => `"${name}"`
  const cut = long.filter((name) => !dropped.has(name))
  const steps = [
    ...(dropped.size > 0 ? [`drop table ${[...dropped].map(quoted)}`] : []),
    // all tables are emptied, so cascading removes nothing else
    ...(cut.length > 0 ? [`truncate ${cut.map(quoted)} cascade`] : []),
    ...filled.filter((name) => !dropped.has(name)).map((name) => `delete from ${quoted(name)}`),
    `select setval(seqrelid, seqstart, false)
      from pg_sequence
      where pg_sequence_last_value(seqrelid) is not null
        and seqrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
    // truncating or analysing a table changes its planner statistics, so they are restored
    ...(plan === was.plan && cut.length === 0 ? [] : [REPLAN.replace("$1", planned)]),
    `update pg_class
      set relpages = 0, reltuples = -1
      where relispartition and relkind = 'r' and relnamespace = 'public'::regnamespace
        and (relpages, reltuples) is distinct from (0, -1)`,
    `delete from pg_statistic
      where starelid in (
        select oid
        from pg_class
        where relnamespace = 'public'::regnamespace and relname <> 'schema_migration'
      )`,
  ]
  await runQuietly(sql, steps)
}

/** Runs statements without foreign keys and triggers, because the audit table refuses deletions. */
async function runQuietly(sql: Sql, steps: string[]): Promise<void> {
  const isEmbedded = (await opened)?.kind === "embedded"
  const first = isEmbedded ? QUIETLY : "set local session_replication_role = replica;"
  await sql.begin((tx) => tx.unsafe(first + steps.join(";\n")))
}

const REPLAN = `
  update pg_class c
  set relpages = (was.of->>1)::int, reltuples = (was.of->>2)::real, relallvisible = 0
  from json_array_elements('$1') was(of)
  where c.oid = (was.of->>0)::oid
    and (c.relpages, c.reltuples) is distinct from ((was.of->>1)::int, (was.of->>2)::real)`

/**
 * Deletes all rows of these tables, in any order. In the embedded database, truncating takes a millisecond of processor
 * time per file, and 70 ms with everything that references the largest table. Deleting a few rows takes a tenth of a
 * millisecond.
 */
export async function deleteRows(sql: Sql, ...tables: string[]): Promise<void> {
  await runQuietly(
    sql,
    tables.map((table) => `delete from "${table}"`),
  )
}

/**
 * Opens the embedded database in memory. The first call on a machine creates the template (4 s), later ones load it.
 */
async function openQuiet(): Promise<EmbeddedDatabase> {
  await oneMakesTheTemplate()
  const Plain = globalThis.Worker
  globalThis.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(
        String(url).endsWith("/embedded/worker.ts") ? new URL("quiet-worker.ts", import.meta.url).href : url,
        options,
      )
    }
  }
  try {
    return await openInMemory()
  } finally {
    globalThis.Worker = Plain
  }
}

/**
 * Creates the template in one of several starting processes, which takes 7 s of processor time. The others wait for it.
 */
async function oneMakesTheTemplate(): Promise<void> {
  const making = join(tmpdir(), `appmeter-template-${hash("sha256", import.meta.dirname, "hex").slice(0, 8)}`)
  const MAX_MS = 60_000
  while (findTemplate() === null) {
    try {
      mkdirSync(making)
    } catch {
      const { mtimeMs } = statSync(making, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
      // the process that was creating it was killed
      if (Date.now() - mtimeMs > MAX_MS) rmSync(making, { recursive: true, force: true })
      await Bun.sleep(50)
      continue
    }
    try {
      await templateOf()
      // a read-only checkout stores no template
      return
    } finally {
      rmSync(making, { recursive: true, force: true })
    }
  }
}

export function openInMemory(limits?: TurnLimits): Promise<EmbeddedDatabase> {
  return openEmbedded({ as: "server", log: silentLog, ...(limits && { limits }) })
}

async function openScratch(url: string): Promise<Database> {
  const name = `appmeter_test_${process.pid}`
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await dropLeftOver(admin)
  await admin`create database ${admin(name)}`
  await admin.end()
  dropAfterwards(url, name)
  const scratch = new URL(url)
  scratch.pathname = `/${name}`
  return openDatabase({ databaseUrl: scratch.href, dataDir: "", as: "command", log: silentLog })
}

// Drops scratch databases of test processes that were killed.
async function dropLeftOver(admin: postgres.Sql): Promise<void> {
  const scratch = await admin<{ name: string }[]>`
    select datname as name
    from pg_database
    where datname ~ '^appmeter_test_\\d+(_\\w+)?$'
      and datname not in (select datname from pg_stat_activity where datname is not null)`
  for (const { name } of scratch) {
    const pid = Number(name.split("_")[2])
    if (pid === process.pid || !alive(pid)) await admin`drop database if exists ${admin(name)}`.catch(() => {})
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === "EPERM"
  }
}

// Drops the scratch database when this process has ended. `bun test` runs no exit handlers, and kill -9 allows none, so
// another process waits for the end of this one's pipe.
function dropAfterwards(url: string, name: string): void {
  const drop = `
    for await (const _ of Bun.stdin.stream()) continue
    const { default: postgres } = await import("postgres")
    const sql = postgres(process.argv[1], { max: 1, onnotice: () => {} })
    await sql\`drop database if exists \${sql(process.argv[2])} with (force)\`
    await sql.end()`
  Bun.spawn([process.execPath, "-e", drop, url, name], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  }).unref()
}
