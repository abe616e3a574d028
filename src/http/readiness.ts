export type UnreadyReason = "stopping" | "database_away" | "database_busy" | "database_read_only" | "disk_full"

interface ReadinessParts {
  /** Returns whether the database refuses writes. Rejects if it does not answer in time. */
  isReadOnly(): Promise<boolean>
  isDiskFull(): boolean
  isStopping(): boolean
  /** Returns whether no database slot became free for several seconds. */
  isStuck(): boolean
}

/** Returns null if the service can take calls, otherwise the reason. Never rejects. */
export function createReadiness({
  isReadOnly,
  isDiskFull,
  isStopping,
  isStuck,
}: ReadinessParts): () => Promise<UnreadyReason | null> {
  return async () => {
    if (isStopping()) return "stopping"
    if (isDiskFull()) return "disk_full"
    if (isStuck()) return "database_busy"
    try {
      return (await isReadOnly()) ? "database_read_only" : null
    } catch {
      return "database_away"
    }
  }
}

/** Due reads that exceed the pace of an upstream, in requests per day. */
export interface Shortfall {
  upstream: string
  asked: number
  can: number
  short: number
}

/**
 * Returns the upstreams with too little capacity, refreshed at most every 10 s. An unknown capacity counts as enough.
 */
export type Shortfalls = () => Promise<readonly Shortfall[]>

const KEPT_MS = 10_000
// Maximum time to wait for the capacity. A result that arrives later is used by the next caller.
const PATIENCE_MS = 100

/** Never rejects and never takes longer than 100 ms, so that readiness does not depend on it. */
export function createShortfalls(ask: () => Promise<readonly Shortfall[]>, now: () => Date): Shortfalls {
  let latest: readonly Shortfall[] = []
  let checkedAt = Number.NEGATIVE_INFINITY
  let asking = false
  const refresh = async () => {
    asking = true
    try {
      latest = (await ask()).filter(({ short }) => short > 0).map(withoutDetails)
    } catch {
      latest = []
    } finally {
      asking = false
    }
  }
  return async () => {
    const at = now().getTime()
    if (asking || Math.abs(at - checkedAt) < KEPT_MS) return latest
    checkedAt = at
    await within(refresh(), PATIENCE_MS)
    return latest
  }
}

const withoutDetails = ({ upstream, asked, can, short }: Shortfall): Shortfall => ({ upstream, asked, can, short })

async function within(work: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late])
  clearTimeout(timer)
}
