import { existsSync } from "node:fs"
import { join } from "node:path"
import type { ProgressListener } from "../../database/contents.ts"
import { readLandedSteps } from "../../database/migrate.ts"
import type { Database, Sql } from "../../database/types.ts"
import type { Settings } from "../../settings/settings.ts"
import { CommandProblem, type Terminal } from "./command.ts"

/** Returns a database's location without user and password: "the database at db.example.com:5432/appmeter". */
export function placeOf({ sql, kind }: Database, { dataDir }: Pick<Settings, "dataDir">): string {
  if (kind === "embedded") return `the embedded database in ${dataDir}`
  const { host, port, database } = sql.options
  return `the database at ${host.map((name, i) => `${name}:${port[i] ?? port[0]}`).join(",")}/${database}`
}

/** Returns whether the folder contains an embedded database. */
export function isMade(dataDir: string): boolean {
  return existsSync(join(dataDir, "postgres", "PG_VERSION"))
}

/** Throws CommandProblem if there is no database, so that a command that only reads does not create one. */
export function assertMade({ databaseUrl, dataDir }: Settings): void {
  if (databaseUrl || isMade(dataDir)) return
  throw new CommandProblem(`there is no database in ${dataDir}; set DATA_DIR or DATABASE_URL to use another one`)
}

/** Throws CommandProblem with the reason `why` if a server uses the database. */
export async function assertUnserved(database: Database, place: string, why: string): Promise<void> {
  const served = database.kind === "embedded" ? !("backend" in database) : await hasServer(database.sql)
  if (served) throw new CommandProblem(`a server is using ${place}. Stop it first, because ${why}`)
}

/** Throws CommandProblem if the database has tables of another program, which could conflict with Appmeter's. */
export async function assertOurs(sql: Sql, place: string): Promise<void> {
  if ((await readLandedSteps(sql)).length > 0) return
  const foreign = await sql<{ name: string }[]>`
    select c.relname::text as name
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and c.relname <> 'schema_migration'
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.relname
    limit 4`
  if (foreign.length === 0) return
  const names = foreign.map(({ name }) => name).join(", ")
  throw new CommandProblem(`${place} contains tables of another program (${names}); use an empty database`)
}

/** Shows the progress through the tables. */
export function showProgress(terminal: Terminal): ProgressListener {
  return (table, done, all) => terminal.progress(`${table}: ${done} of ${all} rows`)
}

// Returns whether a session of the database has the application name of a server (options.ts).
async function hasServer(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ served: boolean }]>`
    select exists (
      select
      from pg_stat_activity
      where datname = current_database() and application_name = 'appmeter server'
    ) as served`
  return row.served
}
