import { checkApp } from "./check-app.ts"
import { checkIds, checkProvenance, checkRankPlace, checkTerm, checkTime, hold } from "./invariants.ts"
import type { SearchObservation } from "./types.ts"

export function checkSearch(reading: SearchObservation, now: Date): void {
  checkRankPlace(reading)
  checkTerm(reading.term)
  checkTime(reading.seenAt, now)
  const { platform, depth, complete, results } = reading
  const whole = Number.isInteger(depth) && depth >= 1 && depth <= 250
  hold(whole, "bad_depth", "the depth must be a whole number from 1 to 250")
  hold(typeof complete === "boolean", "bad_depth", "complete must be true or false")
  hold(results.length <= depth, "too_many_results", "there are more results than the depth")
  checkIds(
    platform,
    results.map(({ id }) => id),
    "results",
  )
  for (const result of results) checkApp(result, reading.seenAt)
  checkProvenance(reading)
}
