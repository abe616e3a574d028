import postgres from "postgres"
import { readTree } from "../src/database/assets.ts"
import { openDatabase } from "../src/database/connect.ts"
import { type EmbeddedDatabase, openEmbedded } from "../src/database/embedded/open.ts"
import type { TurnLimits } from "../src/database/embedded/turns.ts"
import { migrate } from "../src/database/migrate.ts"
import type { Database, Sql } from "../src/database/types.ts"
import { silentLog } from "../src/log.ts"

/**
 * An empty, migrated database: the embedded one in memory, or with DATABASE_URL a scratch database on that server. One
 * per test process, so call it in `beforeAll`; the next call empties it again. A few months may be open already.
 */
export async function freshDatabase(): Promise<Sql> {
  opened ??= process.env.DATABASE_URL ? openScratch(process.env.DATABASE_URL) : openInMemory()
  const { sql } = await opened
  const found = await stateOf(sql)
  if (migrated?.schema === found.schema) {
    await emptyTables(sql, found, migrated)
    return sql
  }
  // the embedded database begins with the schema
  if (process.env.DATABASE_URL || migrated !== undefined) {
    await sql`drop schema if exists public cascade`
    await sql`create schema public`
  }
  await migrate(sql, readTree("sql", ".sql"), silentLog)
  migrated = await stateOf(sql)
  return sql
}

let opened: Promise<Database> | undefined
/** As it was right after the schema was made. */
let migrated: State | undefined

interface State {
  /** What would tell that a test changed the schema: then it is made anew, which takes half a second. Partitions are no part of it. */
  schema: string
  filled: string[]
  /** Tables so long that they are cut: what was deleted is read through until then. */
  long: string[]
  /** Partitions, four a month. */
  partitions: string[]
  /** What the planner was told of each table and index, as JSON. */
  counted: string
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
      coalesce((select array_agg(relname::text) from every where size > 100000), '{}') as long,
      coalesce((select array_agg(relname::text) from every where relkind = 'r' and relispartition), '{}') as partitions,
      (select json_agg(json_build_array(oid::int, relpages, reltuples)) from own where relkind in ('r', 'i'))::text as counted
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

/** Opening a month takes 20 ms, and most tests are about the same one or two; more of them make every plan longer. */
const KEPT_PARTITIONS = 12

/** As right after the migrations: no rows but theirs, ids from 1 on, and what the planner knew then. */
async function emptyTables(sql: Sql, { filled, long, partitions }: State, { counted }: State): Promise<void> {
  const dropped = new Set(partitions.length > KEPT_PARTITIONS ? partitions : [])
  const quoted = (name: string) => `"${name}"`
  const cut = long.filter((name) => !dropped.has(name))
  const steps = [
    ...(dropped.size > 0 ? [`drop table ${[...dropped].map(quoted)}`] : []),
    // neither foreign keys nor triggers: the table of audits refuses to lose a row
    "set local session_replication_role = replica",
    // all tables are emptied, so that those which go with them would go anyway
    ...(cut.length > 0 ? [`truncate ${cut.map(quoted)} cascade`] : []),
    ...filled.filter((name) => !dropped.has(name)).map((name) => `delete from ${quoted(name)}`),
    `select setval(seqrelid, seqstart, false)
      from pg_sequence
      where seqrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
    // a table that was truncated or analysed is planned for otherwise
    `update pg_class c
      set relpages = (was.of->>1)::int, reltuples = (was.of->>2)::real, relallvisible = 0
      from json_array_elements('${counted}') was(of)
      where c.oid = (was.of->>0)::oid
        and (c.relpages, c.reltuples) is distinct from ((was.of->>1)::int, (was.of->>2)::real)`,
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
  await sql.begin((tx) => tx.unsafe(steps.join(";\n")))
}

/** Opens the embedded database in memory. The first call on a machine makes the template (4 s), later ones load it. */
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
