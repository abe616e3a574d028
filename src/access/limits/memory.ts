import { perSecondCounter } from "./counter.ts"
import { checkLimit, type RateLimiter, rateAnswer } from "./limiter.ts"

/** Counts in this process: exact for one process, forgotten when it ends. */
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
