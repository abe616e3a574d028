import { openDatabase } from "../../database/connect.ts"
import type { Database } from "../../database/types.ts"
import { silentLog } from "../../lib/log.ts"
import type { Invocation } from "../cli/command.ts"
import { isMade } from "../cli/whole-database.ts"

/** The database, opened by the first check that needs it. */
export interface DoctorDatabase {
  /**
   * Null if no database exists yet. Rejects on every call if it cannot be opened. Never migrates or creates a database.
   */
  database(): Promise<Database | null>
  close(): Promise<void>
}

export function openDoctorDatabase({ settings }: Pick<Invocation, "settings">): DoctorDatabase {
  const { databaseUrl, dataDir } = settings
  let opened: Promise<Database | null> | undefined
  const open = async () => {
    if (!databaseUrl && !isMade(dataDir)) return null
    return await openDatabase({ databaseUrl, dataDir, as: "command", log: silentLog, maxConnections: 1 })
  }
  return {
    database: () => (opened ??= open()),
    async close() {
      const database = await opened?.catch(() => null)
      await database?.close()
    },
  }
}
