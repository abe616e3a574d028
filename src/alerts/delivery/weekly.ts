import type { Sql } from "../../database/types.ts"
import { firstOf, recurring } from "../../jobs/timers.ts"
import type { Log } from "../../lib/log.ts"
import { findAppsToTell, tellWeek, weekToTell } from "../weekly.ts"

export interface Summaries {
  start(): void
  stop(): Promise<void>
  runOnce(): Promise<number>
}

export interface SummaryOptions {
  sql: Sql
  log: Log
  now?: () => Date
}

const MINUTE_MS = 60_000
const AT_ONCE = 50

/** Adds weekly summaries of all apps to the feed. Any number of processes may run it; each week is added once. */
export function createSummaries({ sql, log, now = () => new Date() }: SummaryOptions): Summaries {
  // apps without any measurement this week; they have no summary and are skipped
  const empty = new Set<string>()
  let stopping = false
  const tellAll = async () => {
    const week = weekToTell(now())
    if (!week) empty.clear()
    let addedCount = 0
    for (let after = ""; week && !stopping; ) {
      const apps = await findAppsToTell(sql, week, { after, limit: AT_ONCE })
      for (const app of apps) {
        if (stopping) break
        if (empty.has(app.id)) continue
        if (await tellWeek(sql, app, week, now())) addedCount++
        else empty.add(app.id)
      }
      const last = apps.at(-1)
      if (!last || apps.length < AT_ONCE) break
      after = last.id
    }
    if (addedCount > 0) log("info", "weekly_summaries_added", { count: addedCount })
    return addedCount
  }
  const look = recurring(MINUTE_MS, tellAll, firstOf(log, "weekly_worker_failed"))
  return {
    start: look.start,
    async stop() {
      stopping = true
      await look.stop()
    },
    runOnce: tellAll,
  }
}
