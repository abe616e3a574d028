import { Database } from "bun:sqlite"
import { chmodSync } from "node:fs"
import { join } from "node:path"

/**
 * One process per data directory: PGlite itself lets two processes open one directory and loses rows silently. The
 * lock is the kernel's on a file, so it dies with the process, also by kill -9. Returns the release, or null when
 * another process holds it.
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
