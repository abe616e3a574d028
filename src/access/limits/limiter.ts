/** Counts a caller's calls in windows of one UTC second. A refused call is not counted. */
export interface RateLimiter {
  /**
   * Counts a call. Does not throw when the shared store is down: this process then counts alone, and the result is
   * marked `degraded`.
   */
  take(subject: string, perSecond: number): Promise<RateAnswer>
}

export interface RateAnswer {
  allowed: boolean
  limit: number
  remaining: number
  /** Milliseconds until the next second begins, 1 to 1,000. */
  resetMs: number
  /** For the `retry-after` header: whole seconds, at least 1. */
  retryAfterSeconds: number
  /** Present if the shared store did not answer, so that only the calls of this process were counted. */
  degraded?: true
}

export const SECOND_MS = 1_000

/**
 * Returns the result for a subject with `used` calls counted in this second. `used` includes this call if it was
 * allowed.
 */
export function rateAnswer(allowed: boolean, limit: number, used: number, at: Date): RateAnswer {
  const resetMs = SECOND_MS - (at.getTime() % SECOND_MS)
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - used),
    resetMs,
    retryAfterSeconds: Math.ceil(resetMs / 1_000),
  }
}

/** Throws RangeError unless `limit` is a whole number of 0 or more. With NaN, no call would ever be above the limit. */
export function checkLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new RangeError(`a limit must be a whole number of 0 or more, not ${limit}`)
  }
}

/** Counts in this process only. The counts are lost when it ends. */
export function memoryLimiter(now: () => Date = () => new Date()): RateLimiter {
  const count = perSecondCounter()
  return {
    async take(subject, perSecond) {
      checkLimit(perSecond)
      const at = now()
      const { allowed, used } = count(subject, perSecond, at)
      return rateAnswer(allowed, perSecond, used, at)
    },
  }
}

/**
 * Counts a call of `subject` unless `perSecond` calls are already counted in this second. `used` includes the call if
 * it was allowed.
 */
type Count = (subject: string, perSecond: number, at: Date) => { allowed: boolean; used: number }

/** Counts in this process. Holds the subjects of one second only. Seconds are UTC seconds. */
export function perSecondCounter(): Count {
  return createSecondCounter().take
}

interface SecondCounter {
  take: Count
  /** Gives back a unit taken at `at`, unless its second is over. */
  release(subject: string, at: Date): void
}

/** Creates a counter like perSecondCounter, whose units can be given back. */
export function createSecondCounter(): SecondCounter {
  let second = -1
  let counts = new Map<string, number>()
  return {
    take(subject, perSecond, at) {
      const current = secondOf(at)
      if (current !== second) {
        second = current
        counts = new Map()
      }
      const before = counts.get(subject) ?? 0
      const allowed = before < perSecond
      if (allowed) counts.set(subject, before + 1)
      return { allowed, used: allowed ? before + 1 : before }
    },
    release(subject, at) {
      const used = counts.get(subject) ?? 0
      if (secondOf(at) === second && used > 0) counts.set(subject, used - 1)
    },
  }
}

const secondOf = (at: Date) => Math.floor(at.getTime() / SECOND_MS)
