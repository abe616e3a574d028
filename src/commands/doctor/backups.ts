import { isBackupLate, listNightlyBackups } from "../../database/nightly-backups.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, warning } from "./finding.ts"

/** Checks that the nightly backups exist and are recent. Each backup was read back when it was written. */
export function checkBackups({ settings }: Pick<Invocation, "settings">): Finding[] {
  const thing = "backups"
  const folder = settings.backupDir
  if (folder === undefined) return [ok(thing, "no nightly backups; set BACKUP_DIR to a folder to have them")]
  const backups = listNightlyBackups(folder)
  const [newest] = backups
  const fix = "start a server with this setting and read backup_failed in its log; it retries every hour"
  if (!newest) return [warning(thing, `no nightly backup in ${folder} yet`, fix)]
  const says = `${backups.length} verified in ${folder}, newest of ${newest.day} with ${newest.bytes} bytes`
  return [
    isBackupLate(backups, new Date())
      ? warning(thing, `${says}: last night's backup is missing`, fix)
      : ok(thing, says),
  ]
}
