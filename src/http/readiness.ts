export type UnreadyReason = "stopping" | "database_away" | "database_busy" | "database_read_only" | "disk_full"

interface ReadinessParts {
  /** Asks the database whether it takes writes. Rejects when it does not answer in time. */
  isReadOnly(): Promise<boolean>
  isDiskFull(): boolean
  isStopping(): boolean
  /** No database slot came free for several seconds. */
  isStuck(): boolean
}

/** Null when the service can take calls. Never rejects. */
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

/** Reads that are due and cannot be done at the pace that an upstream allows; requests a day. */
export interface Shortfall {
  upstream: string
  asked: number
  can: number
  short: number
}

/** Gives what is short, and asks for it anew at most every 10 s. Not known is not short. */
export type Shortfalls = () => Promise<readonly Shortfall[]>

const KEPT_MS = 10_000
// Once in 10 s at most; a slower answer is told to whoever asks next.
const PATIENCE_MS = 100

/** Never rejects, and never takes longer than a glance: readiness does not hang on it. */
export function createShortfalls(ask: () => Promise<readonly Shortfall[]>, now: () => Date): Shortfalls {
  let known: readonly Shortfall[] = []
  let askedAt = Number.NEGATIVE_INFINITY
  let asking = false
  const refresh = async () => {
    asking = true
    try {
      known = (await ask()).filter(({ short }) => short > 0).map(told)
    } catch {
      known = []
    } finally {
      asking = false
    }
  }
  return async () => {
    const at = now().getTime()
    if (asking || Math.abs(at - askedAt) < KEPT_MS) return known
    askedAt = at
    await within(refresh(), PATIENCE_MS)
    return known
  }
}

const told = ({ upstream, asked, can, short }: Shortfall): Shortfall => ({ upstream, asked, can, short })

async function within(work: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late])
  clearTimeout(timer)
}
