import type { Log } from "../lib/log.ts"

export interface DiskWatch {
  noteFull(): void
  /** What was measured where the database lies; a disk that is too full is said once, and once that it has room again. */
  noteRoom(low: boolean): void
  isFull(): boolean
}

/** A server's disk cannot be looked at from here: what failed tells of it for so long. */
const REMEMBERED_MS = 10_000

export function createDiskWatch(log: Log, cure: string, now = () => performance.now()): DiskWatch {
  let low = false
  let fullUntil = Number.NEGATIVE_INFINITY
  const isFull = () => low || now() < fullUntil
  const change = (next: () => void) => {
    const before = isFull()
    next()
    if (isFull() && !before) log("error", "disk_full", { reason: cure })
    if (!isFull() && before) log("info", "disk_has_room")
  }
  return {
    noteFull: () =>
      change(() => {
        fullUntil = now() + REMEMBERED_MS
      }),
    noteRoom: (isLow) =>
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
  "XX001", // what is on the disk cannot be read
  "XX002", // an index does not fit its table
])

/** Whether what is stored cannot be read back; no input of a call makes SQL end so. */
export function isDamaged(error: unknown): boolean {
  return DAMAGE.has(String((error as { code?: unknown } | null)?.code))
}
