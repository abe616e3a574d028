import { warnOfSkew } from "../database/clock.ts"
import { openDatabase } from "../database/connect.ts"
import { migrate } from "../database/migrate.ts"
import { createLog } from "../log.ts"
import type { Command } from "./command.ts"
import { openDelivery } from "./delivering.ts"
import { openStoreReading } from "./measuring.ts"
import { assertOpenFiles } from "./open-files.ts"
import { resealAtStart } from "./reseal-at-start.ts"
import { stopSignal } from "./stop.ts"
import { migrations } from "./with-database.ts"

export const work: Command = {
  name: "work",
  summary: "Read the stores, tell alerts and serve nothing: beside servers with MEASURE=no, or from another address.",
  examples: [["work", "with DATABASE_URL as the servers have it; any number of such processes share one pace"]],
  logs: true,
  async run(invocation) {
    assertOpenFiles(invocation.settings)
    const { databaseUrl, dataDir, databaseConnections: maxConnections } = invocation.settings
    const { measuring: settings, allowPrivateTargets: allowPrivate } = invocation.settings
    const log = createLog(invocation.terminal.err, invocation.settings.logLevel)
    for (const warning of invocation.settings.warnings) log("warn", "setting", { reason: warning })
    const stop = stopSignal(invocation, log)
    const onLoss = () => stop.ask("error")
    const database = await openDatabase({ databaseUrl, dataDir, as: "server", log, maxConnections, onLoss })
    try {
      await migrate(database.sql, migrations(), log)
      if (databaseUrl) await warnOfSkew(database.sql, log)
      await resealAtStart(invocation.settings, database, log)
      const reading = openStoreReading({ settings, sql: database.sql, log, allowPrivate })
      const delivery = await openDelivery(invocation.settings, { sql: database.sql, log })
      reading.start()
      if (invocation.settings.deliver) delivery.start()
      log("info", "working", { database: database.kind })
      const why = await stop.asked
      log("info", "stopping", { signal: why })
      await Promise.all([reading.stop(), delivery.stop()])
      log("info", "stopped", { signal: why })
      return why === "error" ? 1 : 0
    } finally {
      await database.close()
    }
  },
}
