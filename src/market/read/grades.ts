import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import type { IntervalCalibration } from "../formulas/conformal.ts"
import type { MonthScore } from "../formulas/grades.ts"

/** What the figures of a month were worth on the apps that Google Play counts. */
interface GradedMonth extends MonthScore {
  /** YYYY-MM. */
  month: string
}

/** The newest month that was graded with enough apps; null = none was. */
export async function readGradedMonth(sql: Db): Promise<GradedMonth | null> {
  const [row] = await sql<{ month: string; score: MonthScore }[]>`
    select to_char(month, 'YYYY-MM') as month, score
    from estimate_month
    where score is not null
    order by estimate_month.month desc
    limit 1`
  return row ? { month: row.month, ...row.score } : null
}

/** A calibration is of its month, and stale once two more are over. */
const CALIBRATED_DAYS = 92

/** Of the newest month that gave one. */
export async function readCalibration(sql: Db, today: string): Promise<IntervalCalibration | null> {
  const [row] = await sql<{ calibration: IntervalCalibration }[]>`
    select calibration
    from estimate_month
    where calibration is not null and month > ${addDays(today, -CALIBRATED_DAYS)}::date
    order by month desc
    limit 1`
  return row?.calibration ?? null
}

/** A figure as it stood when its month ended. */
export interface KeptFigure {
  /** The first day of the month; the figure is of the 30 days that end with it. */
  month: string
  /** Its store_app id. */
  app: number
  formula: number
  /** The app's, as it is now. */
  genre: string | null
  storefronts: string[]
  /** Null = only that it is under an amount. */
  value: number | null
  low: number
  high: number
  under: number | null
}

/** Of apps of the App Store by their ids there: of each its last months, the newest first; those without one are missing. */
export async function readKeptFigures(
  sql: Db,
  iosIds: readonly string[],
  months: number,
): Promise<Map<string, KeptFigure[]>> {
  const rows = await sql<(KeptFigure & { id: string })[]>`
    select s.store_id as id, s.id as app, g.month::text, g.formula, s.genre, g.storefronts, g.value, g.low, g.high, g.under
    from store_app s
    cross join lateral (
      select *
      from estimate_grade
      where app_id = s.id
      order by estimate_grade.month desc
      limit ${months}
    ) g
    where s.platform = 'ios' and s.store_id = any(${iosIds as string[]}::text[])
    order by s.id, g.month desc
    limit ${months * iosIds.length}`
  return Map.groupBy(rows, ({ id }) => id)
}
