import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { dayOf } from "../lib/days.ts"

/** A complete backup in BACKUP_DIR. Before it got its name, it was read back as a check. */
interface NightlyBackup {
  file: string
  /** The night to which it belongs, as YYYY-MM-DD. */
  day: string
  at: Date
  bytes: number
}

/** Number of backups to keep. Older ones are deleted. */
export const KEPT_BACKUPS = 7

/** A night begins at this hour (UTC), when most workspaces are quiet. */
const NIGHT_HOUR = 3

/** A missed night is reported only after this time, so that a backup which takes long is not reported. */
const LATE_MS = 6 * 3_600_000

/** Returns the night that a moment belongs to, as YYYY-MM-DD. */
export function nightOf(now: Date): string {
  return dayOf(new Date(now.getTime() - NIGHT_HOUR * 3_600_000))
}

export function nightlyBackupPath(folder: string, night: string): string {
  return join(folder, `appmeter-${night}.backup`)
}

/** Returns the nightly backups in a folder, newest first. None if it does not exist or cannot be read. */
export function listNightlyBackups(folder: string): NightlyBackup[] {
  return namesIn(folder)
    .flatMap((name) => {
      const [, day] = /^appmeter-(\d{4}-\d\d-\d\d)\.backup$/.exec(name) ?? []
      const file = join(folder, name)
      const stats = day === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
      return stats ? [{ file, day: day!, at: stats.mtime, bytes: stats.size }] : []
    })
    .sort((a, b) => (a.day < b.day ? 1 : -1))
}

/** Returns true if no backup is as recent as the last night that began at least LATE_MS ago. */
export function isBackupLate([newest]: readonly NightlyBackup[], now: Date): boolean {
  return newest === undefined || newest.day < nightOf(new Date(now.getTime() - LATE_MS))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
