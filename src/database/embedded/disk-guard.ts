import type { DiskWatch } from "../disk.ts"
import type { Sql } from "../types.ts"
import { freeBytes } from "./room.ts"

interface DiskGuardOptions {
  dataDir: string
  watch: DiskWatch
  everyMs?: number
}

/** Four segments of the log: PostgreSQL ends at once when it cannot write that, and so it is never tried with less. */
const LEAST_BYTES = 64 * 2 ** 20
/** Writes begin again only with some room to spare, or they would stop at the next look. */
const ENOUGH_BYTES = 96 * 2 ** 20

/** With too little room the database takes no writes and goes on reading. Returns the way to stop. */
export function guardDisk(sql: Sql, { dataDir, watch, everyMs = 2_000 }: DiskGuardOptions): () => Promise<void> {
  let low = false
  let looking: Promise<void> | null = null
  const look = async () => {
    const free = freeBytes(dataDir)
    const before = low
    low = free < (low ? ENOUGH_BYTES : LEAST_BYTES)
    watch.noteRoom(low)
    // while it is low each time: a database that was opened anew knows nothing of it
    if (low) await sql`set default_transaction_read_only = on`
    else if (before) await sql`set default_transaction_read_only = off`
  }
  const begin = () => {
    looking ??= look()
      .catch(() => {}) // the database is being opened anew; the next look comes
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
