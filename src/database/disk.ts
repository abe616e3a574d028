import type { Log } from "../lib/log.ts"

export interface DiskWatch {
  noteFull(): void
  /**
   * Reports whether the database's disk is full. Logs once when the disk becomes full, and once when it has room again.
   */
  reportSpace(low: boolean): void
  isFull(): boolean
}

/** The disk of a server cannot be measured from here. It counts as full for this long after a write failed. */
const REMEMBERED_MS = 10_000

export function createDiskWatch(log: Log, cure: string, now = () => performance.now()): DiskWatch {
  let low = false
  let fullUntil = Number.NEGATIVE_INFINITY
  const isFull = () => low || now() < fullUntil
  const change = (next: () => void) => {
    const before = isFull()
    next()
    if (isFull() && !before) log("error", "disk_full", { reason: cure })
    if (!isFull() && before) log("info", "disk_recovered")
  }
  return {
    noteFull: () =>
      change(() => {
        fullUntil = now() + REMEMBERED_MS
      }),
    reportSpace: (isLow) =>
      change(() => {
        low = isLow
        if (!isLow) fullUntil = Number.NEGATIVE_INFINITY
      }),
    isFull,
  }
}

export function isDiskFull(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "53100"
}

const DAMAGE = new Set([
  "XX001", // data on the disk cannot be read
  "XX002", // an index does not match its table
])

/**
 * Returns true if the error means that stored data is corrupt. No argument of a call can make SQL fail with these
 * codes.
 */
export function isDamaged(error: unknown): boolean {
  return DAMAGE.has(String((error as { code?: unknown } | null)?.code))
}
