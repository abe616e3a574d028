import { within } from "../jobs/timers.ts"
import type { Subject } from "./due-kind.ts"

export interface EndBell {
  /** Resolves when a reading of the subject ends in this process, or after `ms`. */
  next(wanted: Subject, ms: number): Promise<void>
}

/** Wakes callers that wait for a reading when this process ends it. */
export function createEndBell(onEnded: (listener: (ended: { subjects: readonly Subject[] }) => void) => void): EndBell {
  const sleepers = new Map<string, Set<() => void>>()
  onEnded(({ subjects }) => {
    for (const subject of subjects) for (const wake of sleepers.get(keyOf(subject)) ?? []) wake()
  })
  return {
    next(wanted, ms) {
      const key = keyOf(wanted)
      const { promise, resolve } = Promise.withResolvers<void>()
      const wakers = sleepers.get(key) ?? new Set()
      sleepers.set(key, wakers.add(resolve))
      return within(ms, promise).finally(() => {
        wakers.delete(resolve)
        if (wakers.size === 0) sleepers.delete(key)
      })
    },
  }
}

export function keyOf({ kind, platform, storefront, subject }: Subject): string {
  return `${kind} ${platform} ${storefront} ${subject}`
}
