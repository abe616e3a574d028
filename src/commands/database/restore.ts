import { openDatabase } from "../../database/connect.ts"
import type { Contents } from "../../database/contents.ts"
import { copyInto, countRows, inWords } from "../../database/copy.ts"
import { frozenSha256, migrate } from "../../database/migrate.ts"
import type { Database, Sql, Tx } from "../../database/types.ts"
import { vacuumChanged } from "../../database/upkeep.ts"
import { createLog, type Log } from "../../log.ts"
import { valueAt } from "../../vocabulary/objects.ts"
import { type Command, CommandProblem, firstArgument, type Invocation } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { assertOurs, assertUnserved, placeOf, readLandedMigrations, showProgress } from "../cli/whole-database.ts"
import { migrations } from "../cli/with-database.ts"
import { type Head, openBackup } from "./backup-file.ts"

type Backup = Head & Contents

export const restore: Command = {
  name: "restore",
  summary: "Put a backup into the database: all of it, checked, or nothing. No server may be using it.",
  examples: [
    ["restore appmeter.backup", "into an empty database, embedded or not"],
    ["restore appmeter.backup --force", "in place of all that the database holds"],
    ["restore appmeter.backup --check", "only read it through; touches no database"],
  ],
  positionals: ["file"],
  options: {
    force: { meaning: "Delete what the database holds, without asking." },
    check: { meaning: "Only say whether the file is whole and could be restored by this version." },
  },
  async run(invocation) {
    const file = firstArgument(invocation)
    const backup = await checked(invocation, file)
    const rows = backup.tables.reduce((sum, table) => sum + table.rows, 0)
    const said = { file, at: backup.at, version: backup.version, rows }
    if (invocation.has("check")) {
      show(invocation, { ...said, whole: true }, () => [`${file}: whole, ${rows} rows of ${backup.at}`])
      return 0
    }
    const { databaseUrl, dataDir, logLevel } = invocation.settings
    const log = createLog(invocation.terminal.err, logLevel === "debug" ? "debug" : "warn")
    const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
    try {
      const place = placeOf(database, invocation.settings)
      const tables = await put(invocation, database, place, backup, log)
      show(invocation, { ...said, tables }, () => [`${place} holds the ${rows} rows of ${backup.at}`])
      return 0
    } finally {
      await database.close()
    }
  },
}

/** Reads all of the file, so that nothing is touched for one that is damaged or newer than this program. */
async function checked({ terminal }: Invocation, file: string): Promise<Backup> {
  const backup = await openBackup(file)
  const ours = [...migrations().keys()]
  const unknown = backup.migrations.find(({ name }) => !ours.includes(name))
  if (unknown)
    throw new CommandProblem(
      `${file} is newer than this program: it was written by Appmeter ${backup.version}, with migration ${unknown.name}; restore it with that version`,
    )
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
  await assertUnserved(database, place, "a restore changes all that it remembers")
  await assertOurs(sql, place)
  await clearUnused(database, backup)
  await assertNotLater(sql, place, backup)
  const held = await countRows(
    sql,
    backup.tables.map(({ name }) => name),
  )
  if (held.length > 0 && !invocation.has("force"))
    await invocation.terminal.confirm(`Restoring deletes what ${place} holds (${inWords(held)}).`)
  await giveSchema(sql, backup, log)
  const onProgress = showProgress(invocation.terminal)
  const sums = await copyInto(database, backup, { replace: held.length > 0, finish: endJobs, onProgress })
  invocation.terminal.progress("")
  await migrate(sql, migrations(), log)
  await vacuumChanged(sql)
  return sums
}

/** What was queued then may have been sent since: nothing of it is sent again. */
async function endJobs(tx: Tx): Promise<void> {
  const [table] = await tx<{ present: boolean }[]>`select to_regclass('job') is not null as present`
  if (!table?.present) return
  await tx`
    update job
    set status = 'unknown', sent_at = coalesce(sent_at, now()), lease = null, lease_until = null, finished_at = now()
    where status in ('queued', 'running')`
}

/** A new folder holds this version's tables already: where they are empty, those of the backup's version take their place. */
async function clearUnused({ sql, kind }: Database, backup: Backup): Promise<void> {
  if (kind !== "embedded" || !(await findLaterMigration(sql, backup)) || (await hasRows(sql))) return
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

async function findLaterMigration(sql: Sql, backup: Backup) {
  const fits = backup.migrations.map(({ name }) => name)
  return (await readLandedMigrations(sql)).find(({ name }) => !fits.includes(name))
}

async function assertNotLater(sql: Sql, place: string, backup: Backup): Promise<void> {
  const later = await findLaterMigration(sql, backup)
  if (!later) return
  throw new CommandProblem(
    `the backup is older than ${place}, which has migration ${later.name}; ` +
      "restore it into an empty database without tables, which is then brought up to date",
  )
}

/** The schema that the backup's rows fit. Later migrations come after the rows, as they did wherever it was made. */
async function giveSchema(sql: Sql, { migrations: wanted }: Backup, log: Log): Promise<void> {
  const files = [...migrations()].filter(([file]) => wanted.some(({ name }) => name === file))
  await migrate(sql, new Map(files), log)
  const landed = await readLandedMigrations(sql)
  const other = wanted.find(
    ({ name, sha256 }) => landed.find((one) => one.name === name)?.sha256 !== frozenSha256(sha256),
  )
  if (other) throw new CommandProblem(`migration ${other.name} is not the same in the backup and in this program`)
}
