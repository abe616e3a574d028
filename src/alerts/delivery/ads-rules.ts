import { firstOf, recurring } from "../../jobs/timers.ts"
import { tellAdsRules } from "../ads-rules.ts"
import type { Summaries, SummaryOptions } from "./weekly.ts"

const MINUTE_MS = 60_000

/**
 * Adds changes by other programs in ads accounts to the feed. Any number of processes may run it; each change is added
 * once.
 */
export function createAdsNotices({ sql, log, now = () => new Date() }: SummaryOptions): Summaries {
  const looked = new Map<string, number>()
  const tell = async () => {
    const addedCount = await tellAdsRules(sql, now(), looked)
    if (addedCount > 0) log("info", "ads_changes_added", { count: addedCount })
    return addedCount
  }
  const look = recurring(MINUTE_MS, tell, firstOf(log, "ads_changes_failed"))
  return { start: look.start, stop: look.stop, runOnce: tell }
}
