import { type Algorithm, Ratelimit } from "@upstash/ratelimit"
import type { Redis } from "@upstash/redis"
import { checkLimit } from "./limiter.ts"

export interface FixedWindow {
  /** A refused unit is not counted. Throws StoreSilent when the store is late, else the client's own error. */
  take(subject: string, limit: number): Promise<WindowCount>
}

interface WindowCount {
  allowed: boolean
  used: number
  resetsAt: Date
}

interface WindowOptions {
  prefix: string
  /** Windows begin at multiples of this since 1970-01-01T00:00Z: seconds for 1,000, UTC days for 86,400,000. */
  windowMs: number
  timeoutMs: number
  now?: () => Date
}

/** The store did not answer in time, or did not a moment ago and was not asked again. */
class StoreSilent extends Error {
  override name = "StoreSilent"
}

/** Exact over all processes. The window is the caller's clock's (managed Redis refuses TIME), so clocks must agree. */
export function fixedWindow(redis: Redis, { prefix, windowMs, timeoutMs, now = () => new Date() }: WindowOptions) {
  const script = redis.createScript<[number, number]>(TAKE)
  const limiters = new Map<number, Ratelimit>()
  let silentUntil = 0

  const algorithm = (limit: number) =>
    exactly(limit, windowMs, now, async (key) => {
      const reply = await script.exec([key], [String(limit), String(2 * windowMs)])
      silentUntil = 0
      return reply
    })

  const limiterFor = (limit: number) => {
    if (limiters.size >= MOST_LIMITERS) limiters.clear()
    const limiter = limiters.get(limit) ?? ratelimit(redis, algorithm(limit), prefix, timeoutMs)
    limiters.set(limit, limiter)
    return limiter
  }

  return {
    async take(subject, limit) {
      checkLimit(limit)
      const at = performance.now()
      if (at < silentUntil) throw new StoreSilent("the store did not answer a moment ago")
      // one caller asks again while the rest of the second goes without: nobody queues behind a frozen store
      if (silentUntil > 0) silentUntil = at + SILENCE_MS
      const { success, remaining, reset, reason } = await limiterFor(limit).limit(subject)
      if (reason === "timeout") {
        silentUntil = performance.now() + SILENCE_MS
        throw new StoreSilent(`the store did not answer in ${timeoutMs} ms`)
      }
      return { allowed: success, used: limit - remaining, resetsAt: new Date(reset) }
    },
  } satisfies FixedWindow
}

// distinct limits are the plans' and a few overrides
const MOST_LIMITERS = 100
const SILENCE_MS = 1_000

// The library's own fixedWindow adds first and compares after, so refused calls count too; this compares first. No
// "#!lua flags=allow-key-locking" line as in the library's scripts: an ordinary Redis refuses that flag.
const TAKE = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used >= tonumber(ARGV[1]) then return {0, used} end
used = redis.call('INCR', KEYS[1])
if used == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {1, used}`

type ExactAlgorithm = ReturnType<Algorithm<unknown>>

/** `remaining` goes below 0 when more is used than a lowered limit allows, so that `used` can be told from it. */
function exactly(
  limit: number,
  windowMs: number,
  now: () => Date,
  count: (key: string) => Promise<[number, number]>,
): Algorithm<unknown> {
  const take = async (identifier: string) => {
    const window = Math.floor(now().getTime() / windowMs)
    const [allowed, used] = checkReply(await count(`${identifier}:${window}`))
    return { success: allowed === 1, limit, remaining: limit - used, reset: (window + 1) * windowMs, pending: SETTLED }
  }
  const unused = () => Promise.reject(new Error("only limit() is used here"))
  const algorithm: ExactAlgorithm = {
    limit: (_, identifier) => take(identifier),
    getRemaining: unused,
    resetTokens: unused,
  }
  return () => algorithm
}

const SETTLED = Promise.resolve()

function checkReply(reply: unknown): [number, number] {
  if (Array.isArray(reply) && reply.length === 2 && reply.every(Number.isSafeInteger)) return reply as [number, number]
  throw new TypeError("the store's answer is not a count")
}

/** Everything off that would call home, write more than the count, or remember a refusal longer than the store does. */
function ratelimit(redis: Redis, limiter: Algorithm<unknown>, prefix: string, timeout: number): Ratelimit {
  return new Ratelimit({
    redis,
    limiter,
    prefix,
    timeout,
    analytics: false,
    dynamicLimits: false,
    enableProtection: false,
    enableTelemetry: false,
    ephemeralCache: false,
  })
}
