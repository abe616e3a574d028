import { SECOND_MS } from "./limiter.ts"

/** Counts a call of `subject` unless `perSecond` are counted in this second. `used` includes it when it was allowed. */
export type Count = (subject: string, perSecond: number, at: Date) => { allowed: boolean; used: number }

/** Counts in this process and holds one second's subjects at most. Seconds begin with the UTC second. */
export function perSecondCounter(): Count {
  let second = -1
  let counts = new Map<string, number>()
  return (subject, perSecond, at) => {
    const current = Math.floor(at.getTime() / SECOND_MS)
    if (current !== second) {
      second = current
      counts = new Map()
    }
    const before = counts.get(subject) ?? 0
    const allowed = before < perSecond
    if (allowed) counts.set(subject, before + 1)
    return { allowed, used: allowed ? before + 1 : before }
  }
}
