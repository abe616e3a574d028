import { warnOfSkew } from "../../database/clock.ts"
import { openDatabase } from "../../database/connect.ts"
import { migrate } from "../../database/migrate.ts"
import type { Database } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import { followMarket } from "../../market/followed-storefronts.ts"
import type { ExitCode, Invocation } from "../cli/command.ts"
import { schemaFiles } from "../cli/with-database.ts"
import { processLog } from "./log-lines.ts"
import { assertOpenFiles, watchOpenFiles } from "./open-files.ts"
import { resealAtStart } from "./reseal-at-start.ts"
import { type Stop, stopSignal } from "./stop.ts"

export interface RunningProcess {
  database: Database
  stop: Stop
  log: Log
}

/** The work of the process. It is imported while the database opens in its own thread. */
type Run = (running: RunningProcess) => Promise<void>

/** Migrates the database, runs until a stop, and closes the database. Returns the exit code. */
export async function untilStopped(invocation: Invocation, load: () => Promise<Run>): Promise<ExitCode> {
  assertOpenFiles(invocation.settings)
  const { databaseUrl, dataDir, databaseConnections: maxConnections, warnings } = invocation.settings
  const log = processLog(invocation)
  for (const warning of warnings) log("warn", "setting_warning", { reason: warning })
  const stop = stopSignal(invocation, log)
  const endWatch = watchOpenFiles(log)
  // the process exits, because a supervisor would not restart a server that answers 503 forever
  const onLoss = () => stop.ask("error")
  const opening = openDatabase({ databaseUrl, dataDir, as: "server", log, maxConnections, onLoss })
  const [database, run] = await Promise.all([opening, load()])
  try {
    if (!stop.isAsked()) await migrate(database.sql, schemaFiles(), log)
    if (!stop.isAsked() && databaseUrl) await warnOfSkew(database.sql, log)
    if (!stop.isAsked()) await resealAtStart(invocation.settings, database, log)
    if (!stop.isAsked()) await followMarket(database.sql, invocation.settings.market)
    if (!stop.isAsked()) await run({ database, stop, log })
  } finally {
    endWatch()
    await database.close()
  }
  const why = await stop.reason
  log("info", "stopped", { signal: why })
  return why === "error" ? 1 : 0
}
