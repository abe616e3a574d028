import { addDays, dayOf } from "../../lib/days.ts"
import type { ChangeRow } from "../kinds/ads-insights.ts"
import { type ChangeNotice, changeRows, changesOf, noticesIn } from "../sources/ads/insights.ts"
import { changesQuery } from "../sources/ads/requests.ts"
import type { AccountTask } from "../tasks.ts"
import type { AdsTaskParts } from "./reach.ts"
import type { AdsReading } from "./store.ts"

/** The first read requests the last 28 days; later reads request only the days to which changes may still be added. */
const FIRST_DAYS = 28
const LATE_DAYS = 2
/**
 * Maximum number of change details requested in one task. A task exceeds it only to complete a day that it has started.
 */
const MAX_DETAILS = 200

/** Reads the days whose changes are not stored yet, newest first, each with all its changes. */
export async function changedDays(parts: AdsTaskParts, { wasRead }: AccountTask): Promise<AdsReading[]> {
  const { reach, now, account } = parts
  const today = dayOf(now())
  const window = { from: addDays(today, -(wasRead ? LATE_DAYS : FIRST_DAYS)), to: today }
  const { rows } = await reach.all(changesQuery(window))
  const byDay = Map.groupBy(noticesIn(rows, reach.aside), ({ day }) => day)
  const readings: AdsReading[] = []
  let requestCount = 0
  for (const [day, notices] of [...byDay].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const stored = await readStoredChanges(parts, day)
    const fresh = notices.filter(({ id }) => !stored.has(id))
    if (fresh.length === 0 || requestCount >= MAX_DETAILS) continue
    requestCount += fresh.length
    const details = await readDetails(parts, fresh)
    const about = { account: account.id, day }
    readings.push(changesOf([...[...stored.values()].flat(), ...details], about, reach.body(now())))
  }
  return readings
}

async function readDetails({ reach }: AdsTaskParts, notices: readonly ChangeNotice[]): Promise<ChangeRow[]> {
  const rows: ChangeRow[] = []
  for (const { id } of notices) {
    await reach.pause()
    const result = await reach.detail(id)
    if (result !== null) rows.push(...changeRows(id, result, reach.aside))
  }
  return rows
}

/** Returns the stored changes of a day, by the platform's id. */
async function readStoredChanges({ sql, account }: AdsTaskParts, day: string): Promise<Map<string, ChangeRow[]>> {
  const [latest] = await sql<{ rows: ChangeRow[] }[]>`
    select (select coalesce(jsonb_agg(r.row order by r.place), '[]')
    from said_rows(rows, pieces) r (row, place)) as rows
    from ads_report
    where account_id = ${account.id} and report = 'ads_changes' and about = '' and day = ${day}
    order by seen_at desc, parser desc, sha256 desc
    limit 1`
  return Map.groupBy(latest?.rows ?? [], ({ change }) => change)
}
