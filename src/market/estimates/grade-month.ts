import { json } from "../../database/json.ts"
import { tryLock } from "../../database/locks.ts"
import type { Db, Sql, Tx } from "../../database/types.ts"
import { addDays, dayOf, daysInMonth, monthOf } from "../../lib/days.ts"
import { daysBetween, MONTH_DAYS } from "../formulas/count-readings.ts"
import { type DownloadEstimate, ESTIMATE_FORMULA, estimateDownloads, LEVEL } from "../formulas/downloads.ts"
import { calibrateMonth, type Grade, scoreMonth } from "../formulas/grades.ts"
import { downloadsPerRating } from "../formulas/ratio.ts"
import { type RatingGain, readMeasuredDownloads, readRatingGains } from "../read/gains.ts"
import type { EstimatedApp } from "./make-estimate.ts"
import { downloadsFrom } from "./make-estimate.ts"

/** Counts of a month's last day may arrive this many days late. */
const SETTLED_DAYS = 3
/** Number of app ids per turn. */
const IDS_AT_ONCE = 1_000
/** Minimum number of days that both the figure and the true count must cover. */
const MIN_DAYS = 20
/** Sample size: more pairs would not change the median and the shares noticeably. */
const MAX_PAIRS = 2_000

/** "more": there may be more to do. "busy": another process is writing, so this turn stored nothing. */
type GradeTurn = "more" | "busy" | "done"

/**
 * Grades the next apps of the latest ended month. After the last app it closes the month with a score. A turn stores
 * its grades together with its progress, so a killed process loses only that turn.
 */
export async function gradeNext(sql: Sql, now: Date, { idsAtOnce = IDS_AT_ONCE } = {}): Promise<GradeTurn> {
  const month = lastMonth(dayOf(now))
  const progress = await readProgress(sql, month)
  // an import of readings of this month reopens the month, which is then graded again from the first app
  if (progress?.isGraded && progress.gradedTo > 0) return "done"
  const after = progress?.gradedTo ?? 0
  const apps = await readApps(sql, month, { after, idsAtOnce })
  const graded: GradedApp[] = []
  for (const app of apps.found) graded.push(...(await gradeApp(sql, app, endOf(month))))
  return await sql.begin(async (tx) => {
    if (!(await tryLock(tx, "estimates"))) return "busy"
    // another process has graded apps of this month meanwhile
    if (((await readProgress(tx, month))?.gradedTo ?? 0) !== after) return "more"
    await storeGrades(tx, month, graded)
    await storeProgress(tx, month, apps.lookedTo)
    if (!apps.isLast) return "more"
    await endMonth(tx, month)
    return "done"
  })
}

function lastMonth(today: string): string {
  return monthOf(addDays(monthOf(addDays(today, -SETTLED_DAYS)), -1))
}

function endOf(month: string): string {
  return addDays(month, daysInMonth(month) - 1)
}

async function readProgress(sql: Db, month: string) {
  const [row] = await sql<{ gradedTo: number; isGraded: boolean }[]>`
    select graded_to as "gradedTo", graded_at is not null as "isGraded"
    from estimate_month
    where month = ${month}::date`
  return row
}

async function readApps(sql: Db, month: string, { after, idsAtOnce }: { after: number; idsAtOnce: number }) {
  const [last] = await sql<[{ id: number }]>`select coalesce(max(id), 0) as id from store_app`
  const lookedTo = Math.min(after + idsAtOnce, last.id)
  const found = await sql<GradableApp[]>`
    select s.id as app, s.platform, s.genre, t."isTracked"
    from store_app s
    cross join lateral (
      select exists (
        select
        from measured_app a
        where a.ios_app = s.id or a.android_app = s.id
      ) as "isTracked"
    ) t
    where s.id > ${after} and s.id <= ${lookedTo} and (t."isTracked" or s.platform = 'android' and exists (
        select
        from market_fact f
        where f.app_id = s.id and f.installs is not null and f.day between ${month}::date and ${endOf(month)}::date
      ))
    order by s.id
    limit ${idsAtOnce}`
  return { found: [...found], lookedTo, isLast: lookedTo >= last.id }
}

interface GradableApp extends EstimatedApp {
  /** A workspace tracks the app, so its owner may know the true count. */
  isTracked: boolean
}

interface GradedApp extends Omit<Grade, "truth"> {
  app: number
  storefronts: string[]
  truth: number | null
}

/**
 * Returns no grade if the app's figure is not based on gained ratings, or if nobody can know the true count, because
 * Google Play shows none and no workspace tracks the app.
 */
async function gradeApp(sql: Db, { app, platform, genre, isTracked }: GradableApp, asOf: string): Promise<GradedApp[]> {
  const gains = (await readRatingGains(sql, app, asOf)).filter(({ gain }) => gain !== null && gain.days >= MIN_DAYS)
  const truth = platform === "android" ? await readTruth(sql, app, asOf) : null
  if (gains.length === 0 || (platform === "android" && truth === null && !isTracked)) return []
  // Google Play shows worldwide ratings in every storefront
  const counted = platform === "android" ? gains.toSorted(mostRatingsFirst).slice(0, 1) : gains
  const figure = platform === "android" ? byPrior(counted, genre) : downloadsFrom(counted, genre, null)
  if (!figure) return []
  const { value, low, high, under } = figure
  const ratings = counted.reduce((sum, { ratings }) => sum + ratings, 0)
  return [{ app, ratings, storefronts: counted.map(({ storefront }) => storefront), value, low, high, under, truth }]
}

/** Returns the installs that Google Play counted, scaled to 30 days. */
async function readTruth(sql: Db, app: number, asOf: string): Promise<number | null> {
  const counted = await readMeasuredDownloads(sql, app, asOf)
  if (!counted || daysBetween(counted.from, counted.to) < MIN_DAYS) return null
  return ((counted.value as number) * MONTH_DAYS) / counted.days
}

function mostRatingsFirst(a: RatingGain, b: RatingGain): number {
  return b.ratings - a.ratings || (a.storefront < b.storefront ? -1 : 1)
}

/** Estimates the downloads without the count that Google Play publishes, in the same way as for an App Store app. */
function byPrior(storefronts: readonly RatingGain[], genre: string | null): DownloadEstimate | null {
  const ratio = downloadsPerRating("android", { ownFigures: null, genre }, [])
  return estimateDownloads({ storefronts, ratio, level: LEVEL, calibration: null })
}

async function storeGrades(tx: Tx, month: string, graded: readonly GradedApp[]): Promise<void> {
  if (graded.length === 0) return
  await tx`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high, under, truth)
    select ${month}::date, app, ${ESTIMATE_FORMULA}::smallint, ratings, storefronts, value, low, high, under, truth
    from jsonb_to_recordset(${json(tx, graded)}) g (
      app int, ratings int, storefronts text[], value float8, low float8, high float8, under float8, truth float8
    )
    on conflict (month, app_id) do update
    set formula = excluded.formula, ratings = excluded.ratings, storefronts = excluded.storefronts,
      value = excluded.value, low = excluded.low, high = excluded.high, under = excluded.under, truth = excluded.truth`
}

async function storeProgress(tx: Tx, month: string, lookedTo: number): Promise<void> {
  await tx`
    insert into estimate_month (month, graded_to)
    values (${month}::date, ${lookedTo})
    on conflict (month) do update
    set graded_to = excluded.graded_to`
}

async function endMonth(tx: Tx, month: string): Promise<void> {
  const grades = await tx<Grade[]>`
    select ratings, value, low, high, under, truth
    from estimate_grade
    where month = ${month}::date and truth is not null
    -- a stable random sample if there are more
    order by md5(app_id::text), app_id
    limit ${MAX_PAIRS}`
  await tx`
    update estimate_month
    set graded_at = clock_timestamp(), score = ${jsonOrNull(tx, scoreMonth(grades, LEVEL))},
      calibration = ${jsonOrNull(tx, calibrateMonth(grades, LEVEL))}
    where month = ${month}::date`
}

function jsonOrNull(tx: Tx, value: object | null) {
  return value === null ? null : json(tx, value)
}
