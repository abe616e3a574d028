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
 * An empty, migrated database: the embedded one in memory, or with DATABASE_URL a scratch database on that server. One
 * per test process, so call it in `beforeAll`; the next call empties it again. A few months may be open already.
 */
export async function freshDatabase(): Promise<Sql> {
  if (opened === undefined) return await emptied()
  try {
    return await emptied()
  } catch {
    // what a file before this one did to the database is no failure of this one
    await reopened()
    return await emptied()
  }
}

/** The next one is opened anew. */
async function reopened(): Promise<void> {
  await opened?.then(({ close }) => close()).catch(() => {})
  opened = migrated = undefined
  counted = null
}

/** Where other processes find the scratch database of DATABASE_URL's server. */
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
    // it begins with the schema: to open another takes a third of making the schema anew
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
 * What a process keeps of a database is kept by this value: of the one before nothing may be left. What a file leaves running
 * meets a database that is closed, instead of the rows of the files after it.
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
/** As it was right after the schema was made. */
let migrated: State | undefined
/** What the planner was told then of each table and index, as JSON. */
let planned = "[]"
/** What the embedded database had counted when the tables were empty last. */
let counted: Counts | null = null

interface State {
  /** What would tell that a test changed the schema: then it is made anew, which takes half a second. Partitions are no part of it. */
  schema: string
  filled: string[]
  /** Tables so long that they are cut: what was deleted is read through until then. */
  long: string[]
  /** Partitions, four a month. */
  partitions: string[]
  /** Of what the planner was told, a sum. */
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
      coalesce((select array_agg(relname::text) from every where size > 0 and relname <> 'schema_migration'), '{}') as filled,
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
      select concat_ws(' ', oid, xmin, tgenabled) from pg_trigger where tgrelid in (select oid from own) and tgparentid = 0
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
  /** Changes of the catalogue: as long as there is none more, the schema is what it was. */
  catalogue: string
  inserted: Map<string, string>
}

/**
 * The same by what the embedded database counts of itself, at a fifth of the work: there the size of a table is asked of
 * a file system in JavaScript, and there are 120. One backend does everything, so that nothing is counted later.
 */
async function readCounts(sql: Sql): Promise<Counts> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<(Omit<Counts, "inserted"> & { inserted: Record<string, string> | null })[]>`
    select (
        select sum(pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid))::text
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
  // none where a test dropped every table
  const inserted = new Map(Object.entries(row!.inserted ?? {}))
  const filled = [...inserted].filter(([name, count]) => count !== counted?.inserted.get(name)).map(([name]) => name)
  const long = await sql<{ name: string }[]>`
    select relname::text as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relname = any(${filled}::text[]) and pg_relation_size(oid) > ${CUT_FROM}`
  return { ...row!, schema: migrated?.schema ?? "", inserted, filled, long: long.map(({ name }) => name) }
}

const isAsCounted = ({ catalogue }: Counts) => catalogue === counted?.catalogue

/** Opening a month takes 20 ms, and most tests are about the same one or two; more of them make every plan longer. */
const KEPT_PARTITIONS = 12

/** As right after the migrations: no rows but theirs, ids from 1 on, and what the planner knew then. */
async function emptyTables(sql: Sql, { filled, long, partitions, plan }: State, was: State): Promise<void> {
  const dropped = new Set(partitions.length > KEPT_PARTITIONS ? partitions : [])
  const quoted = (name: string) => `"${name}"`
  const cut = long.filter((name) => !dropped.has(name))
  const steps = [
    ...(dropped.size > 0 ? [`drop table ${[...dropped].map(quoted)}`] : []),
    // all tables are emptied, so that those which go with them would go anyway
    ...(cut.length > 0 ? [`truncate ${cut.map(quoted)} cascade`] : []),
    ...filled.filter((name) => !dropped.has(name)).map((name) => `delete from ${quoted(name)}`),
    `select setval(seqrelid, seqstart, false)
      from pg_sequence
      where pg_sequence_last_value(seqrelid) is not null
        and seqrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
    // a table that was truncated or analysed is planned for otherwise
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

/** With neither foreign keys nor triggers: the table of audits refuses to lose a row. */
async function runQuietly(sql: Sql, steps: string[]): Promise<void> {
  const isEmbedded = (await opened)?.kind === "embedded"
  const first = isEmbedded ? QUIETLY : "set local session_replication_role = replica;"
  await sql.begin((tx) => tx.unsafe(first + steps.join(";\n")))
}

const REPLAN = `
  update pg_class c
  set relpages = (was.of->>1)::int, reltuples = (was.of->>2)::real, relallvisible = 0
  from json_array_elements('$1') was(of)
  where c.oid = (was.of->>0)::oid and (c.relpages, c.reltuples) is distinct from ((was.of->>1)::int, (was.of->>2)::real)`

/**
 * Takes all rows of these tables, in any order. To cut a table takes the embedded database a millisecond of processor time
 * for each of its files, and 70 with what hangs on the largest; to delete a few rows takes a tenth of one.
 */
export async function deleteRows(sql: Sql, ...tables: string[]): Promise<void> {
  await runQuietly(
    sql,
    tables.map((table) => `delete from "${table}"`),
  )
}

/** Opens the embedded database in memory. The first call on a machine makes the template (4 s), later ones load it. */
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

/** Of the processes that begin together one makes the template, which takes 7 s of processor time, and the others wait for it. */
async function oneMakesTheTemplate(): Promise<void> {
  const making = join(tmpdir(), `appmeter-template-${hash("sha256", import.meta.dirname, "hex").slice(0, 8)}`)
  const MOST_MS = 60_000
  while (findTemplate() === null) {
    try {
      mkdirSync(making)
    } catch {
      const { mtimeMs } = statSync(making, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
      // who made it was killed
      if (Date.now() - mtimeMs > MOST_MS) rmSync(making, { recursive: true, force: true })
      await Bun.sleep(50)
      continue
    }
    try {
      await templateOf()
      // a checkout that nobody may write to keeps none
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

// Scratch databases of test processes that were killed.
async function dropLeftOver(admin: postgres.Sql): Promise<void> {
  const scratch = await admin<{ name: string }[]>`
    select datname as name
    from pg_database
    where datname ~ '^appmeter_test_\\d+(_\\w+)?$' and datname not in (select datname from pg_stat_activity where datname is not null)`
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

// `bun test` runs no exit handlers, and nobody does after kill -9: another process waits for the end of this one's pipe.
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
