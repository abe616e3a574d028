import { openDatabase } from "../../database/connect.ts"
import type { Contents } from "../../database/contents.ts"
import { copyInto, countRows, inWords } from "../../database/copy.ts"
import { findMismatch, migrate, missingSteps, readLandedSteps } from "../../database/migrate.ts"
import type { Database, Sql, Tx } from "../../database/types.ts"
import { vacuumChanged } from "../../database/upkeep.ts"
import { createLog, type Log } from "../../lib/log.ts"
import { valueAt } from "../../lib/objects.ts"
import { type Command, CommandProblem, firstArgument, type Invocation } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { assertOurs, assertUnserved, placeOf, showProgress } from "../cli/whole-database.ts"
import { schemaFiles } from "../cli/with-database.ts"
import { type Head, openBackup } from "./backup-file.ts"

type Backup = Head & Contents

export const restore: Command = {
  name: "restore",
  summary: "Restore a backup into the database, completely or not at all.",
  details: "Stop the server first. The file is checked before anything is written.",
  examples: [
    ["restore appmeter.backup", "into an empty embedded database or PostgreSQL"],
    ["restore appmeter.backup --force", "replace all data in the database"],
    ["restore appmeter.backup --check", "only verify the file; opens no database"],
  ],
  positionals: ["file"],
  options: {
    force: { meaning: "Delete the existing data without a confirmation." },
    check: { meaning: "Only report whether the file is complete and this version can restore it." },
  },
  async run(invocation) {
    const file = firstArgument(invocation)
    const backup = await checked(invocation, file)
    const rows = backup.tables.reduce((sum, table) => sum + table.rows, 0)
    const summary = { file, at: backup.at, version: backup.version, rows }
    if (invocation.has("check")) {
      show(invocation, { ...summary, whole: true }, () => [`${file}: complete, ${rows} rows of ${backup.at}`])
      return 0
    }
    const { databaseUrl, dataDir, logLevel } = invocation.settings
    const log = createLog(invocation.terminal.err, logLevel === "debug" ? "debug" : "warn")
    const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
    try {
      const place = placeOf(database, invocation.settings)
      const tables = await put(invocation, database, place, backup, log)
      show(invocation, { ...summary, tables }, () => [`restored ${rows} rows of ${backup.at} into ${place}`])
      return 0
    } finally {
      await database.close()
    }
  },
}

/** Reads the whole file first, so that a damaged or unusable file changes nothing. */
async function checked({ terminal }: Invocation, file: string): Promise<Backup> {
  const backup = await openBackup(file)
  const mismatch = findMismatch(backup.migrations, schemaFiles())
  if (mismatch) throw new CommandProblem(`${file} ${mismatch.reason}; restore it with the version that wrote it`)
  const seen = new Map(backup.tables.map(({ name, rows }) => [name, { done: 0, all: rows }]))
  for await (const { table, lines } of backup.pages()) {
    const count = valueAt(seen, table)
    count.done += lines.length
    terminal.progress(`checking ${table}: ${count.done} of ${count.all} rows`)
  }
  terminal.progress("")
  return backup
}

async function put(invocation: Invocation, database: Database, place: string, backup: Backup, log: Log) {
  const { sql } = database
  await assertUnserved(database, place, "a restore replaces the data that the server has cached")
  await assertOurs(sql, place)
  await clearUnused(database, backup)
  await assertFits(sql, place, backup)
  const existing = await countRows(
    sql,
    backup.tables.map(({ name }) => name),
  )
  if (existing.length > 0 && !invocation.has("force"))
    await invocation.terminal.confirm(`Restoring deletes the data in ${place} (${inWords(existing)}).`)
  await giveSchema(sql, backup, log)
  const onProgress = showProgress(invocation.terminal)
  const sums = await copyInto(database, backup, { replace: existing.length > 0, finish: endJobs, onProgress })
  invocation.terminal.progress("")
  await migrate(sql, schemaFiles(), log)
  await vacuumChanged(sql)
  return sums
}

/** Cancels queued jobs: they may have run since the backup, and must not send anything twice. */
async function endJobs(tx: Tx): Promise<void> {
  const [table] = await tx<{ present: boolean }[]>`select to_regclass('job') is not null as present`
  if (!table?.present) return
  await tx`
    update job
    set status = 'unknown', sent_at = coalesce(sent_at, now()), lease = null, lease_until = null, finished_at = now()
    where status in ('queued', 'running')`
}

/**
 * Drops the tables of a new embedded database if they are empty and do not fit the backup. The restore then creates the
 * tables of the backup's version.
 */
async function clearUnused({ sql, kind }: Database, backup: Backup): Promise<void> {
  if (kind !== "embedded" || (await findMisfit(sql, backup)) === null || (await hasRows(sql))) return
  await sql.begin(async (tx) => {
    await tx`drop schema public cascade`
    await tx`create schema public`
  })
}

async function hasRows(sql: Sql): Promise<boolean> {
  const tables = await sql<{ name: string }[]>`
    select relname::text as name
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migration'
    order by relname`
  for (const { name } of tables) {
    const [row] = await sql<[{ any: boolean }]>`select exists (select from ${sql(name)}) as any`
    if (row.any) return true
  }
  return false
}

/** Returns why the rows of the backup do not fit the tables of the database. Null if they do. */
async function findMisfit(sql: Sql, backup: Backup): Promise<string | null> {
  const landed = await readLandedSteps(sql)
  const mismatch = findMismatch(landed, schemaFiles())
  if (mismatch) return mismatch.reason
  const later = landed.find(({ name }) => backup.migrations.every((step) => step.name !== name))
  return later ? `has migration ${later.name}, which is newer than the backup` : null
}

async function assertFits(sql: Sql, place: string, backup: Backup): Promise<void> {
  const misfit = await findMisfit(sql, backup)
  if (misfit === null) return
  throw new CommandProblem(
    `${place} ${misfit}; restore into an empty database instead; it is then migrated to this version`,
  )
}

/** Creates the schema of the backup's version. Later migrations run after the rows are restored, as in an upgrade. */
async function giveSchema(sql: Sql, backup: Backup, log: Log): Promise<void> {
  const later = missingSteps(backup.migrations, schemaFiles())
  const files = [...schemaFiles()].filter(([path]) => !later.some((name) => path.endsWith(`/${name}`)))
  await migrate(sql, new Map(files), log)
}
