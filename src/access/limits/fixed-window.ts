import { type Algorithm, Ratelimit } from "@upstash/ratelimit"
import type { Redis } from "@upstash/redis"
import { Cache } from "../../lib/cache.ts"
import { checkLimit } from "./limiter.ts"
import { createTogether } from "./together.ts"

export interface FixedWindow {
  /**
   * Takes a unit. A refused unit is not counted. Throws StoreSilent when the store times out, otherwise the client's
   * error.
   */
  take(subject: string, limit: number): Promise<WindowCount>
}

interface WindowCount {
  allowed: boolean
  used: number
  resetsAt: Date
}

interface WindowOptions {
  prefix: string
  /** Windows begin at multiples of this since 1970-01-01T00:00Z: 1,000 gives seconds, 86,400,000 gives UTC days. */
  windowMs: number
  timeoutMs: number
  now?: () => Date
}

/** The store timed out, now or a moment ago. */
class StoreSilent extends Error {
  override name = "StoreSilent"
}

/**
 * Wraps a limiter of @upstash/ratelimit with a different algorithm. Exact over all processes. The window follows the
 * caller's clock (managed Redis refuses TIME), so the clocks must agree. Calls that arrive while others are being
 * counted share a command; each is decided by itself, in order of arrival.
 */
export function fixedWindow(redis: Redis, { prefix, windowMs, timeoutMs, now = () => new Date() }: WindowOptions) {
  const script = redis.createScript<number[]>(TAKE)
  const expiry = String(2 * windowMs)
  let silentUntil = 0
  const count = createTogether<Unit, Count>({
    timeoutMs,
    async ask(units) {
      const keys = units.map(({ key }) => key)
      const counts = countsIn(
        await script.exec(keys, [...units.map(({ limit }) => String(limit)), expiry]),
        keys.length,
      )
      silentUntil = 0
      return counts
    },
    late() {
      silentUntil = performance.now() + SILENCE_MS
      return new StoreSilent(`the store did not answer in ${timeoutMs} ms`)
    },
  })

  // An entry is never stale, because the counts are in the store.
  const limiters = new Cache<number, Ratelimit>(MAX_LIMITERS)
  const limiterOf = (limit: number): Ratelimit =>
    limiters.getOrMake(limit, () => ratelimit(redis, batched(limit, { windowMs, now, count }), prefix))

  return {
    async take(subject, limit) {
      checkLimit(limit)
      const at = performance.now()
      if (at < silentUntil) throw new StoreSilent("the store did not answer a moment ago")
      // One caller tries the store again while the others of this second fail at once, so that no queue forms behind a
      // frozen store.
      if (silentUntil > 0) silentUntil = at + SILENCE_MS
      const { success, remaining, reset } = await limiterOf(limit).limit(subject)
      return { allowed: success, used: limit - remaining, resetsAt: new Date(reset) }
    },
  } satisfies FixedWindow
}

/** Limits come from the plans and a few overrides, so there are few distinct ones. */
const MAX_LIMITERS = 100

interface WindowParts {
  windowMs: number
  now: () => Date
  count: (unit: Unit) => Promise<Count>
}

/**
 * Replaces the library's fixedWindow, which counts before it compares, so that it counts refused calls, and which sends
 * a command per call. `remaining` is negative if more is used than a lowered limit allows.
 */
function batched(limit: number, { windowMs, now, count }: WindowParts): Algorithm<unknown> {
  const unused = () => Promise.reject(new Error("only limit() is used here"))
  return () => ({
    async limit(_, identifier) {
      const window = Math.floor(now().getTime() / windowMs)
      const { allowed, used } = await count({ key: `${identifier}:${window}`, limit })
      return { success: allowed, limit, remaining: limit - used, reset: (window + 1) * windowMs, pending: SETTLED }
    },
    getRemaining: unused,
    resetTokens: unused,
  })
}

const SETTLED = Promise.resolve()

/**
 * Disables the library's timeout, which would let a call pass uncounted; createTogether has a deadline and refuses
 * instead. Also disables usage reports, writes other than the count, and caching a refusal for longer than the store.
 */
function ratelimit(redis: Redis, limiter: Algorithm<unknown>, prefix: string): Ratelimit {
  return new Ratelimit({
    redis,
    limiter,
    prefix,
    timeout: 0,
    analytics: false,
    dynamicLimits: false,
    enableProtection: false,
    enableTelemetry: false,
    ephemeralCache: false,
  })
}

interface Unit {
  key: string
  limit: number
}

type Count = Pick<WindowCount, "allowed" | "used">

const SILENCE_MS = 1_000

// Compares before it counts, so that refused calls are not counted. Has no "#!lua flags=allow-key-locking" line,
// because an ordinary Redis refuses that flag.
const TAKE = `
local counts = {}
for i, key in ipairs(KEYS) do
  local used = tonumber(redis.call('GET', key) or '0')
  local allowed = 0
  if used < tonumber(ARGV[i]) then
    allowed = 1
    used = redis.call('INCR', key)
    if used == 1 then redis.call('PEXPIRE', key, ARGV[#ARGV]) end
  end
  counts[2 * i - 1] = allowed
  counts[2 * i] = used
end
return counts`

function countsIn(reply: unknown, length: number): Count[] {
  if (!Array.isArray(reply) || reply.length !== 2 * length || !reply.every(Number.isSafeInteger))
    throw new TypeError("the store's answer is not a count")
  return Array.from({ length }, (_, at) => ({ allowed: reply[2 * at] === 1, used: reply[2 * at + 1] as number }))
}
