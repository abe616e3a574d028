import { createHash } from "node:crypto"
import type { Log } from "../lib/log.ts"
import { takeLock } from "./locks.ts"
import { DatabaseProblem } from "./problem.ts"
import type { Sql, Tx } from "./types.ts"

/** A part of the schema that is applied at once: the baseline, or one migration. A database stores the hash of each. */
export interface Step {
  name: string
  sha256: string
}

/** The first step: the files of sql/schema, in the order of their names. */
export const BASELINE = "baseline"

/**
 * Applies the steps that the database lacks: the baseline, then the migrations (`files` are those under sql/, by path).
 * Forward only, each step in its own transaction; safe when several processes start at once. Returns the applied steps.
 * Throws DatabaseProblem if this program cannot use the database.
 */
export async function migrate(sql: Sql, files: ReadonlyMap<string, string>, log: Log): Promise<string[]> {
  // An applied step never disappears, so a start that finds no missing step takes no lock and opens no transaction.
  const landed = await readLandedSteps(sql)
  const mismatch = findMismatch(landed, files)
  if (mismatch) throw new DatabaseProblem(`the database ${mismatch.reason}; ${mismatch.remedy}`)
  const missing = textsOf(files).filter(({ name }) => landed.every((step) => step.name !== name))
  const applied: string[] = []
  for (const step of missing) {
    const startedAt = performance.now()
    if (!(await exclusively(sql, (tx) => apply(tx, step)))) continue
    applied.push(step.name)
    log("info", "migrated", { reason: step.name, latencyMs: Math.round(performance.now() - startedAt) })
  }
  if (applied.length > 0) await analyzeNew(sql)
  return applied
}

/** Returns the steps as scripts, to be run in order on an empty database that no other process uses. */
export function migrationScripts(files: ReadonlyMap<string, string>): string[] {
  const landing = ({ name, text, sha256 }: StepText) =>
    `begin;\n${text};\ninsert into schema_migration (name, sha256) values ('${name}', '${sha256}');\ncommit`
  return [LANDED, ...textsOf(files).map(landing)]
}

/** Returns the steps of this program in order. */
export function stepsOf(files: ReadonlyMap<string, string>): Step[] {
  return textsOf(files).map(({ name, sha256 }) => ({ name, sha256 }))
}

/** Returns the steps that were applied to a database, in order. None if the database has no table of steps. */
export async function readLandedSteps(sql: Sql): Promise<Step[]> {
  try {
    const rows = await sql<Step[]>`
      select name, sha256
      from schema_migration
      order by name <> ${BASELINE}, name`
    return rows.map(({ name, sha256 }) => ({ name, sha256 }))
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return []
    throw error
  }
}

/** Returns the names of the steps that a database lacks. */
export function missingSteps(landed: readonly Step[], files: ReadonlyMap<string, string>): string[] {
  const names = landed.map(({ name }) => name)
  return stepsOf(files).flatMap(({ name }) => (names.includes(name) ? [] : [name]))
}

/** The reason why this program cannot use some data, as the predicate of a sentence, and what to do about it. */
interface Mismatch {
  reason: string
  remedy: string
}

/** Returns the reason why this program cannot use data with these steps. Null if it can use the data. */
export function findMismatch(landed: readonly Step[], files: ReadonlyMap<string, string>): Mismatch | null {
  const hashes = new Map(stepsOf(files).map(({ name, sha256 }) => [name, sha256]))
  const unknown = landed.find(({ name }) => !hashes.has(name))
  const changed = landed.find(({ name, sha256 }) => hashes.has(name) && hashes.get(name) !== sha256)
  const begin = "use an empty database (DATA_DIR or DATABASE_URL), or the version that made this one"
  if (landed.length > 0 && !landed.some(({ name }) => name === BASELINE))
    return { reason: "was made by a version before 0.1.0-alpha, which has no upgrade", remedy: begin }
  if (changed?.name === BASELINE)
    return { reason: "was made by a development version with another baseline schema", remedy: begin }
  if (unknown)
    return { reason: `is newer than this program: it has migration ${unknown.name}`, remedy: "start a newer version" }
  if (changed)
    return {
      reason: `has another migration ${changed.name} than this program`,
      remedy: "restore the file and write a new one: an applied migration never changes",
    }
  return null
}

const LANDED = `
  create table if not exists schema_migration (
    name text primary key,
    sha256 text not null,
    applied_at timestamptz not null default now()
  )`

interface StepText extends Step {
  text: string
}

function textsOf(files: ReadonlyMap<string, string>): StepText[] {
  const schema = [...files].flatMap(([path, text]) => (path.startsWith("schema/") ? [text] : []))
  const migrations = [...files].flatMap(([path, text]) => {
    const [, name] = /^migrations\/(\d{4}_\w+\.sql)$/.exec(path) ?? []
    return name === undefined ? [] : [stepText(name, text)]
  })
  return [stepText(BASELINE, schema.join("\n")), ...migrations]
}

/**
 * Returns a step with its hash. The hash ignores lines that are only comments, and the line ends of a checkout on
 * Windows.
 */
function stepText(name: string, file: string): StepText {
  const text = file.replaceAll("\r\n", "\n")
  const sha256 = createHash("sha256")
    .update(text.replace(/^\s*--.*\n/gm, ""))
    .digest("hex")
  return { name, text, sha256 }
}

function exclusively<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await takeLock(tx, "migration")
    return await work(tx)
  }) as Promise<T>
}

const UNDEFINED_TABLE = "42P01"

async function apply(tx: Tx, { name, text, sha256 }: StepText): Promise<boolean> {
  if (name === BASELINE) await tx.unsafe(LANDED)
  const [done] = await tx`select 1 from schema_migration where name = ${name}`
  if (done) return false
  await tx.unsafe(text)
  // Temporary functions and tables of a file must be removed from the connection.
  await tx`discard temp`
  await tx`insert into schema_migration (name, sha256) values (${name}, ${sha256})`
  return true
}

// Gathers statistics, because without them the planner guesses. The embedded database has no autovacuum that would
// gather them.
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
