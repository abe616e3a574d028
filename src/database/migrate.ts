import { createHash } from "node:crypto"
import type { Log } from "../log.ts"
import { takeLock } from "./locks.ts"
import { DatabaseProblem } from "./problem.ts"
import type { Sql, Tx } from "./types.ts"

/**
 * Brings the schema up to `migrations` (file name to SQL, in order; see `readTree("sql", ".sql")`), forward only, each
 * file in its own transaction. Safe when several processes start at once. Returns the names applied by this call.
 * Throws `DatabaseProblem` when the database is newer than the code or a landed file was changed.
 */
export async function migrate(sql: Sql, migrations: ReadonlyMap<string, string>, log: Log): Promise<string[]> {
  const files = [...migrations]
    .filter(([name]) => /^\d{4}_/.test(name))
    .map(([name, text]) => ({ name, ...prepared(text) }))
  await exclusively(sql, async (tx) => {
    await tx`
      create table if not exists schema_migration (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`
    assertKnown(await landed(tx), files)
  })
  const applied: string[] = []
  for (const file of files) {
    const startedAt = performance.now()
    if (!(await exclusively(sql, (tx) => apply(tx, file)))) continue
    applied.push(file.name)
    log("info", "migrated", { reason: file.name, latencyMs: Math.round(performance.now() - startedAt) })
  }
  if (applied.length > 0) await analyzeNew(sql)
  return applied
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

async function landed(tx: Tx): Promise<Map<string, string>> {
  const rows = await tx<{ name: string; sha256: string }[]>`select name, sha256 from schema_migration order by name`
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

function assertKnown(landed: Map<string, string>, files: Migration[]): void {
  const known = new Map(files.map((file) => [file.name, file.sha256]))
  for (const [name, sha256] of landed) {
    if (!known.has(name)) {
      throw new DatabaseProblem(
        `the database is newer than the code: it holds migration ${name}; start a newer version`,
      )
    }
    if (known.get(name) !== sha256) {
      throw new DatabaseProblem(`migration ${name} was changed after it was applied; restore it and add a new file`)
    }
  }
}

async function apply(tx: Tx, { name, text, sha256 }: Migration): Promise<boolean> {
  const [done] = await tx`select 1 from schema_migration where name = ${name}`
  if (done) return false
  await tx.unsafe(text)
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
