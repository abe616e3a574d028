import type { DiskWatch } from "../disk.ts"
import type { Sql } from "../types.ts"
import { freeBytes } from "./disk-space.ts"

interface DiskGuardOptions {
  dataDir: string
  watch: DiskWatch
  everyMs?: number
}

/**
 * The size of four segments of the log. PostgreSQL ends if it cannot write the log, so writes are stopped before that.
 */
const MIN_BYTES = 64 * 2 ** 20
/** Higher than the lower bound, so that writes are not stopped again at the next check. */
const ENOUGH_BYTES = 96 * 2 ** 20

/** Makes the database read-only while the disk is nearly full. Returns a function that stops the checks. */
export function guardDisk(sql: Sql, { dataDir, watch, everyMs = 2_000 }: DiskGuardOptions): () => Promise<void> {
  let low = false
  let looking: Promise<void> | null = null
  const look = async () => {
    const free = freeBytes(dataDir)
    const before = low
    low = free < (low ? ENOUGH_BYTES : MIN_BYTES)
    watch.reportSpace(low)
    // Repeated at each check, because the setting is lost when the database is opened again.
    if (low) await sql`set default_transaction_read_only = on`
    else if (before) await sql`set default_transaction_read_only = off`
  }
  const begin = () => {
    looking ??= look()
      .catch(() => {}) // The query fails while the database is being opened again. The next check repeats it.
      .finally(() => {
        looking = null
      })
  }
  begin()
  const timer = setInterval(begin, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await looking
  }
}
