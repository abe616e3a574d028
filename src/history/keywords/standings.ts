import type { Sql } from "../../database/types.ts"
import { addDays, monthOf } from "../../vocabulary/days.ts"
import type { SideApp } from "../day-answers.ts"
import { monthsIn, monthsOf, type StoredMonths, termMonths } from "../rank-months.ts"
import { answerOf } from "../ranks.ts"
import { LOOK_BACK_DAYS, readSideDays, type TermDay, termDay } from "../side-days.ts"
import { trackedLists } from "./tracked-lists.ts"

interface SideStanding {
  /** The latest day on which any of the keywords was measured; null = never. */
  day: string | null
  tracked: number
  measured: number
  ranked: number
  top10: number
  best: number | null
}

/** What an app's keywords come to on the day shown: counted where they are stored, 1,000 in 5 ms of the embedded database. */
export async function readStanding(sql: Sql, side: SideApp): Promise<SideStanding> {
  const [standing] = await sql<[SideStanding]>`
    select min(t.day) as day, count(*)::int as tracked, count(r.source)::int as measured,
      count(nullif(r.rank, 0))::int as ranked, count(*) filter (where r.rank between 1 and 10)::int as top10,
      min(nullif(r.rank, 0))::int as best
    from (
      select list_id, max(last_day) over () as day, ${side.own}::int as own_id
      from (${trackedLists(sql, side)}) k
    ) t
    left join lateral (${answerOf(sql, sql`true`)}) r on true`
  return standing
}

/** Every keyword of an app on the latest day on which any was measured. */
export interface LatestDay {
  /** Null = never. */
  day: string | null
  /** When the latest of the day's results was seen, ISO 8601. */
  measuredAt: string | null
  terms: TermDay[]
}

/** Against the measured day before. In one statement where something was measured within the last days. */
export async function readLatestDay(sql: Sql, side: SideApp, today: string): Promise<LatestDay> {
  const months = [...new Set([addDays(today, -LOOK_BACK_DAYS - RECENT_DAYS), today].map(monthOf))]
  const { day, seenAt, ...read } = await readDay(sql, side, months)
  const measuredAt = seenAt?.toISOString() ?? null
  if (day === null) return { day, measuredAt, terms: [] }
  if (day < addDays(today, -RECENT_DAYS)) {
    const [older] = await readSideDays(sql, [side], day)
    return { day, measuredAt, terms: older?.terms ?? [] }
  }
  const from = addDays(day, -LOOK_BACK_DAYS)
  return { day, measuredAt, terms: monthsIn(read).map((term) => termDay(term, { from, day })) }
}

const RECENT_DAYS = 2

type DayRow = StoredMonths & { day: string | null; seenAt: Date | null }

async function readDay(sql: Sql, side: SideApp, months: readonly string[]): Promise<DayRow> {
  const [row] = await sql<[DayRow]>`
    select min(k.day) as day, max(n.seen_at) as "seenAt", ${termMonths(sql)}
    from (
      select term, position, list_id, max(last_day) over () as day
      from (${trackedLists(sql, side)}) k
    ) k
    left join list_now n on n.list_id = k.list_id and n.day = k.day
    left join lateral (${monthsOf(sql, { own: sql`${side.own}::int`, list: sql`k.list_id` }, months)}) m on true`
  return row
}
