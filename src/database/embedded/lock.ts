import { Database } from "bun:sqlite"
import { chmodSync } from "node:fs"
import { join } from "node:path"

/**
 * Locks the directory, because PGlite lets two processes open it and then silently loses rows. The kernel's lock ends
 * with the process. Returns a function that unlocks the directory, or null if another process has the lock.
 */
export function lockDirectory(directory: string): (() => void) | null {
  const path = join(directory, "server.lock")
  const file = new Database(path, { create: true })
  try {
    file.exec("pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive")
    chmodSync(path, 0o600)
  } catch (error) {
    file.close()
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) return null
    throw error
  }
  return () => file.close()
}
