import { openDatabase } from "../../database/connect.ts"
import { migrate } from "../../database/migrate.ts"
import { createLog } from "../../log.ts"
import type { Command, Invocation } from "../cli/command.ts"
import { show } from "../cli/show.ts"
import { migrations } from "../cli/with-database.ts"

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Bring the database up to this version. A server does so itself when it starts.",
  examples: [["migrate", "apply what is missing"]],
  run: apply,
}

async function apply(invocation: Invocation): Promise<0> {
  const { databaseUrl, dataDir, logLevel } = invocation.settings
  const log = createLog(invocation.terminal.err, logLevel === "debug" ? "debug" : "warn")
  const database = await openDatabase({ databaseUrl, dataDir, as: "command", log, maxConnections: 2 })
  try {
    const applied = await migrate(database.sql, migrations(), log)
    show(invocation, { applied }, () => (applied.length > 0 ? applied : ["nothing to do"]))
    return 0
  } finally {
    await database.close()
  }
}
