import { existsSync } from "node:fs"
import { beginOperatorAction, endOperatorAction } from "../../access/operator-actions.ts"
import { findWorkspace, listWorkspaces, type Workspace } from "../../access/workspaces.ts"
import { readTree } from "../../database/assets.ts"
import { assertHasBun, openDatabase } from "../../database/connect.ts"
import { BASELINE, findMismatch, migrate, missingSteps, readLandedSteps } from "../../database/migrate.ts"
import type { Database, Sql } from "../../database/types.ts"
import { createLog, type Log } from "../../lib/log.ts"
import { CommandProblem, type Invocation, WrongUse } from "./command.ts"

/**
 * Runs the work on the opened database, even while a server uses it, and closes the database. Migrates an embedded
 * database that no server uses. Throws CommandProblem if any other database is not up to date.
 */
export async function useDatabase<T>(
  { settings, terminal, recorded }: Invocation,
  work: (sql: Sql, database: Database) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir, logLevel } = settings
  const log = createLog(terminal.err, logLevel === "debug" ? "debug" : "warn")
  if (!databaseUrl) assertHasBun()
  if (!databaseUrl && !existsSync(dataDir)) terminal.say(`appmeter: creating a database in ${dataDir}`)
  const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
  try {
    await bringUpToDate(database, log)
    return await recordInAudit(database.sql, recorded, () => work(database.sql, database))
  } finally {
    await database.close()
  }
}

/** Runs the work. Records the command in the audit before it, and the exit code after it. */
async function recordInAudit<T>(sql: Sql, recorded: Invocation["recorded"], work: () => Promise<T>): Promise<T> {
  if (!recorded) return await work()
  const id = await beginOperatorAction(sql, recorded)
  try {
    const done = await work()
    await endOperatorAction(sql, id, 0)
    return done
  } catch (error) {
    await endOperatorAction(sql, id, 1).catch(() => {})
    throw error
  }
}

/** Returns the workspace with the name, or the only workspace. Throws AccessProblem, CommandProblem or WrongUse. */
export async function chooseWorkspace(sql: Sql, name: string | undefined): Promise<Workspace> {
  if (name !== undefined) return await findWorkspace(sql, name)
  const [only, ...otherWorkspaces] = await listWorkspaces(sql)
  if (!only) throw new CommandProblem("there is no workspace yet; create one with: appmeter workspace create NAME")
  if (otherWorkspaces.length === 0) return only
  const names = [only, ...otherWorkspaces].slice(0, 10).map((workspace) => JSON.stringify(workspace.name))
  throw new WrongUse(`there are several workspaces. Choose one with --workspace: ${names.join(", ")}`)
}

/** Returns the files of this version's schema, by their paths under sql/. */
export function schemaFiles(): Map<string, string> {
  return readTree("sql", ".sql")
}

/** Migrates an embedded database that only this process uses. Throws CommandProblem if any other is not up to date. */
export async function bringUpToDate(database: Database, log: Log): Promise<void> {
  // the backend is present only if this process opened the embedded database itself
  if ("backend" in database) {
    await migrate(database.sql, schemaFiles(), log)
    return
  }
  const landed = await readLandedSteps(database.sql)
  const mismatch = findMismatch(landed, schemaFiles())
  if (mismatch) throw new CommandProblem(`the database ${mismatch.reason}; ${mismatch.remedy}`)
  const missing = missingSteps(landed, schemaFiles())
  if (missing.length === 0) return
  const remedy = database.kind === "postgres" ? "run: appmeter migrate" : "restart its server with this version"
  throw new CommandProblem(`the database ${lackOf(missing)}; ${remedy}`)
}

/** Returns what a database lacks, as the predicate of a sentence about it. */
export function lackOf(missing: readonly string[]): string {
  if (missing[0] === BASELINE) return "has no tables yet"
  return missing.length === 1
    ? `lacks migration ${missing[0]}`
    : `lacks ${missing.length} migrations, starting with ${missing[0]}`
}
