import { createHash } from "node:crypto"
import type { Log } from "../log.ts"
import { takeLock } from "./locks.ts"
import { DatabaseProblem } from "./problem.ts"
import type { Sql, Tx } from "./types.ts"

/**
 * Forward only, each file in its own transaction; safe when processes start at once. Throws DatabaseProblem when the
 * database is newer or a landed file was changed.
 */
export async function migrate(sql: Sql, migrations: ReadonlyMap<string, string>, log: Log): Promise<string[]> {
  const files = filesOf(migrations)
  // what has landed never goes: a start that finds all of it takes no lock and opens no transaction
  const landed = await readLanded(sql)
  assertKnown(landed, files)
  const missing = files.filter(({ name }) => !landed.has(name))
  if (missing.length === 0) return []
  await exclusively(sql, (tx) => tx.unsafe(LANDED))
  const applied: string[] = []
  for (const file of missing) {
    const startedAt = performance.now()
    if (!(await exclusively(sql, (tx) => apply(tx, file)))) continue
    applied.push(file.name)
    log("info", "migrated", { reason: file.name, latencyMs: Math.round(performance.now() - startedAt) })
  }
  if (applied.length > 0) await analyzeNew(sql)
  return applied
}

/** The same as scripts, one after the other, for an empty database that nobody else knows of. */
export function migrationScripts(migrations: ReadonlyMap<string, string>): string[] {
  const landing = ({ name, text, sha256 }: Migration) =>
    `begin;\n${text};\ninsert into schema_migration (name, sha256) values ('${name}', '${sha256}');\ncommit`
  return [LANDED, ...filesOf(migrations).map(landing)]
}

const LANDED = `
  create table if not exists schema_migration (
    name text primary key,
    sha256 text not null,
    applied_at timestamptz not null default now()
  )`

function filesOf(migrations: ReadonlyMap<string, string>): Migration[] {
  return [...migrations]
    .filter(([name]) => /^\d{4}_\w+\.sql$/.test(name))
    .map(([name, text]) => ({ name, ...prepared(text) }))
}

interface Migration {
  name: string
  text: string
  sha256: string
}

// A checkout on Windows may turn line ends; that is no change of the migration.
function prepared(file: string): { text: string; sha256: string } {
  const text = file.replaceAll("\r\n", "\n")
  return { text, sha256: createHash("sha256").update(text).digest("hex") }
}

function exclusively<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await takeLock(tx, "migration")
    return await work(tx)
  }) as Promise<T>
}

/** None where there is no such table yet. */
async function readLanded(sql: Sql): Promise<Map<string, string>> {
  try {
    const rows = await sql<{ name: string; sha256: string }[]>`select name, sha256 from schema_migration order by name`
    return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return new Map()
    throw error
  }
}

const UNDEFINED_TABLE = "42P01"

/** What 0006 and 0013 were for a while, when a comment in each named another file, and what they are. */
const ONCE_OTHERWISE = new Map([
  [
    "5afd5ed8708d5e195321451fa31e449a2206fc65efca066541e4fc827c52cf7a",
    "dd67c263a5d6e604885778e6dcdc1f7d1aa442cbdbbb09ae75d7d5c073ca020d",
  ],
  [
    "0a96a35ccb38cc4c3400fd6187143e17951ad4159fda883aa976cbbb38dd49d5",
    "1245fdc40fcfb9f357301f921b13205c5a252cc86e85d52e3e94f90eb254d8a6",
  ],
])

/** The checksum of a migration as it is in sql/, by one that a database or a backup holds of it. */
export const frozenSha256 = (sha256: string): string => ONCE_OTHERWISE.get(sha256) ?? sha256

/** What lies between a database and a version's files: steps to come, those it does not know, and those it knows otherwise. */
export function stepsBetween(
  landed: readonly { name: string; sha256: string }[],
  migrations: ReadonlyMap<string, string>,
): { missing: string[]; unknown: string[]; changed: string[] } {
  const files = filesOf(migrations)
  const known = new Map(files.map(({ name, sha256 }) => [name, sha256]))
  const held = new Set(landed.map(({ name }) => name))
  return {
    missing: files.filter(({ name }) => !held.has(name)).map(({ name }) => name),
    unknown: landed.filter(({ name }) => !known.has(name)).map(({ name }) => name),
    changed: landed.flatMap(({ name, sha256 }) => (known.has(name) && known.get(name) !== sha256 ? [name] : [])),
  }
}

function assertKnown(landed: Map<string, string>, files: Migration[]): void {
  const known = new Map(files.map((file) => [file.name, file.sha256]))
  for (const [name, sha256] of landed) {
    if (!known.has(name)) {
      throw new DatabaseProblem(
        `the database is newer than the code: it holds migration ${name}; start a newer version`,
      )
    }
    if (known.get(name) !== frozenSha256(sha256)) {
      throw new DatabaseProblem(`migration ${name} was changed after it was applied; restore it and add a new file`)
    }
  }
}

async function apply(tx: Tx, { name, text, sha256 }: Migration): Promise<boolean> {
  const [done] = await tx`select 1 from schema_migration where name = ${name}`
  if (done) return false
  await tx.unsafe(text)
  // functions and tables that a file makes for itself must not outlive it in the connection
  await tx`discard temp`
  await tx`insert into schema_migration (name, sha256) values (${name}, ${sha256})`
  return true
}

// Without statistics the planner guesses; the embedded database has no autovacuum that would gather them.
async function analyzeNew(sql: Sql): Promise<void> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select n.nspname as schema, c.relname as name
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(current_schemas(false)) and c.relkind in ('r', 'p') and c.reltuples < 0
    order by 1, 2`
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    for (const { schema, name } of tables) await tx`analyze ${tx(schema)}.${tx(name)}`
  })
}
