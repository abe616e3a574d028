import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { openDatabase } from "../../database/connect.ts"
import { holdLock } from "../../database/locks.ts"
import { KEPT_BACKUPS, listNightlyBackups, nightlyBackupPath, nightOf } from "../../database/nightly-backups.ts"
import type { Database } from "../../database/types.ts"
import { repeated } from "../../jobs/timers.ts"
import type { Log } from "../../lib/log.ts"
import type { RecurringWork } from "../../lib/time.ts"
import type { Settings } from "../../settings/settings.ts"
import { takeBackup } from "../database/backup.ts"
import { verifyBackup, writeBackup } from "../database/backup-file.ts"

interface Timing {
  firstMs?: number
  everyMs?: number
  now?: () => Date
}

const HOUR_MS = 3_600_000

/**
 * Takes a backup each night into BACKUP_DIR, reads it back and deletes the oldest. A backup that was missed because no
 * server ran is taken at the next start. After a failure it tries again in an hour.
 */
export function createNightlyBackup(
  { settings, log }: { settings: Settings; log: Log },
  { firstMs = 10_000, everyMs = 900_000, now = () => new Date() }: Timing = {},
): RecurringWork {
  return repeated(firstMs, async (signal) => {
    try {
      await backUp(settings, { log, signal, now: now() })
      return everyMs
    } catch (error) {
      if (!signal.aborted) log("error", "backup_failed", { reason: (error as Error).message })
      return HOUR_MS
    }
  })
}

interface Night {
  log: Log
  signal: AbortSignal
  now: Date
}

async function backUp(settings: Settings, night: Night): Promise<void> {
  const folder = settings.backupDir!
  const file = nightlyBackupPath(folder, nightOf(night.now))
  if (existsSync(file)) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { databaseUrl, dataDir } = settings
  // a separate connection, as in the backup command, so that the backup takes no slot of the server
  const database = await openDatabase({ databaseUrl, dataDir, as: "command", log: night.log, maxConnections: 2 })
  try {
    await exclusively(database, () => writeVerified(database, file, night))
  } finally {
    await database.close()
  }
}

/**
 * Runs the work in one process only: several servers may share a database and a folder. An embedded database has one
 * server.
 */
async function exclusively({ sql, kind }: Database, work: () => Promise<void>): Promise<void> {
  if (kind === "embedded") return await work()
  const release = await holdLock(sql, "nightly backup")
  if (!release) return
  try {
    await work()
  } finally {
    await release()
  }
}

/** The backup gets its name after it was read back, so that every file with such a name is complete. */
async function writeVerified({ sql }: Database, file: string, { log, signal }: Night): Promise<void> {
  if (existsSync(file)) return
  const startedAt = performance.now()
  const unverified = `${file}.unverified`
  try {
    const { bytes } = await takeBackup(sql, (origin, contents) =>
      writeBackup(unverified, origin, contents, () => signal.throwIfAborted()),
    )
    await verifyBackup(unverified)
    renameSync(unverified, file)
    const latencyMs = Math.round(performance.now() - startedAt)
    log("info", "backed_up", { bytes, latencyMs })
  } finally {
    rmSync(unverified, { force: true })
  }
  for (const { file: old } of listNightlyBackups(dirname(file)).slice(KEPT_BACKUPS)) rmSync(old, { force: true })
}
