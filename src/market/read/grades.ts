import type { Platform } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import type { IntervalCalibration } from "../formulas/conformal.ts"
import type { MonthScore } from "../formulas/grades.ts"

/** The accuracy of a month's figures, measured on apps that Google Play counts. */
interface GradedMonth extends MonthScore {
  /** YYYY-MM. */
  month: string
}

/** Returns the newest month that was graded with enough apps. Null if there is none. */
export async function readGradedMonth(sql: Db): Promise<GradedMonth | null> {
  const [row] = await sql<{ month: string; score: MonthScore }[]>`
    select to_char(month, 'YYYY-MM') as month, score
    from estimate_month
    where score is not null
    order by estimate_month.month desc
    limit 1`
  return row ? { month: row.month, ...row.score } : null
}

/** A calibration belongs to its month and is stale once two more months are over. */
const CALIBRATED_DAYS = 92

/** Returns the newest calibration that is not stale. Null if there is none. */
export async function readCalibration(sql: Db, today: string): Promise<IntervalCalibration | null> {
  const [row] = await sql<{ calibration: IntervalCalibration }[]>`
    select calibration
    from estimate_month
    where calibration is not null and month > ${addDays(today, -CALIBRATED_DAYS)}::date
    order by month desc
    limit 1`
  return row?.calibration ?? null
}

/** A figure as of the end of its month. */
export interface StoredFigure {
  /** The first day of the month. The figure covers the 30 days that end with the month. */
  month: string
  /** store_app id. */
  app: number
  formula: number
  /** The app's current genre. */
  genre: string | null
  storefronts: string[]
  /** Null if only an upper bound is known. */
  value: number | null
  low: number
  high: number
  under: number | null
}

/**
 * Returns the figures of the last months for apps of a store, by store id, newest month first. Omits apps without a
 * figure.
 */
export async function readStoredFigures(
  sql: Db,
  { platform, ids }: { platform: Platform; ids: readonly string[] },
  months: number,
): Promise<Map<string, StoredFigure[]>> {
  const rows = await sql<(StoredFigure & { id: string })[]>`
    select s.store_id as id, s.id as app, g.month::text, g.formula, s.genre, g.storefronts, g.value, g.low, g.high,
      g.under
    from store_app s
    cross join lateral (
      select *
      from estimate_grade
      where app_id = s.id
      order by estimate_grade.month desc
      limit ${months}
    ) g
    where s.platform = ${platform} and s.store_id = any(${ids as string[]}::text[])
    order by s.id, g.month desc
    limit ${months * ids.length}`
  return Map.groupBy(rows, ({ id }) => id)
}
