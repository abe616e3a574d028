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
 * Runs a command's work on the database, be it held by a server or not, and closes it. An embedded database that nobody
 * holds is brought up to date first; any other that is not gives a CommandProblem.
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

/** Who changes something stands in the audit before it is done, and how it ended after it. */
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

/** The workspace of that name, or the only one there is. Throws AccessProblem, CommandProblem or WrongUse. */
export async function chooseWorkspace(sql: Sql, name: string | undefined): Promise<Workspace> {
  if (name !== undefined) return await findWorkspace(sql, name)
  const [only, ...others] = await listWorkspaces(sql)
  if (!only) throw new CommandProblem("there is no workspace yet; create one with: appmeter workspace create NAME")
  if (others.length === 0) return only
  const names = [only, ...others].slice(0, 10).map((workspace) => JSON.stringify(workspace.name))
  throw new WrongUse(`there are several workspaces. Choose one with --workspace: ${names.join(", ")}`)
}

/** Returns the files of this version's schema, by their paths under sql/. */
export function schemaFiles(): Map<string, string> {
  return readTree("sql", ".sql")
}

/** Brings an embedded database that this process alone holds up to date. Throws CommandProblem where any other is not. */
export async function bringUpToDate(database: Database, log: Log): Promise<void> {
  // only who holds the embedded database has its backend
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
