import { Redis } from "@upstash/redis"
import type { Log } from "../../lib/log.ts"
import type { FixedWindow } from "./fixed-window.ts"
import { checkLimit, createSecondCounter, type RateLimiter, rateAnswer } from "./limiter.ts"

/**
 * Returns the Upstash REST client with a timeout of 1 s, no retries (a retried count may count twice) and no telemetry.
 */
export function upstashRedis({ url, token }: { url: string; token: string }): Redis {
  return new Redis({
    url,
    token,
    // `retry: false` would still try twice (1.39.0).
    retry: { retries: 0 },
    signal: () => AbortSignal.timeout(REQUEST_MS),
    enableTelemetry: false,
    enableAutoPipelining: false,
    readYourWrites: false,
  })
}

/**
 * Counts in the shared store and in this process. A process therefore never allows more than the limit in a second,
 * even without the store; n processes without the store allow at most n times the limit. PostgreSQL is no fallback,
 * because during an outage of the store every call would cost a commit. Warns at most once a minute.
 */
export function sharedLimiter(shared: FixedWindow, log: Log, now: () => Date = () => new Date()): RateLimiter {
  const localCounter = createSecondCounter()
  const warn = oncePerMinute(log, now)
  return {
    async take(subject, perSecond) {
      checkLimit(perSecond)
      const at = now()
      const local = localCounter.take(subject, perSecond, at)
      // The calls that this process allowed already use up the limit, so the store need not be called.
      if (!local.allowed) return rateAnswer(false, perSecond, local.used, at)
      try {
        const { allowed, used } = await shared.take(subject, perSecond)
        if (!allowed) localCounter.release(subject, at)
        return rateAnswer(allowed, perSecond, used, now())
      } catch (error) {
        warn(error)
        return { ...rateAnswer(true, perSecond, local.used, now()), degraded: true }
      }
    },
  }
}

const REQUEST_MS = 1_000
const MINUTE_MS = 60_000

function oncePerMinute(log: Log, now: () => Date): (error: unknown) => void {
  let loggedAt = -Infinity
  let count = 0
  return (error) => {
    count += 1
    const at = now().getTime()
    if (at - loggedAt < MINUTE_MS) return
    log("warn", "limits_degraded", { count, reason: reasonOf(error) })
    loggedAt = at
    count = 0
  }
}

/** Shortens the client's messages, which quote the whole command. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const [reason = ""] = text.split(", command was:")
  return reason.slice(0, 200)
}
