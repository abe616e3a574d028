import { deriveMarketFigures } from "../../charts/store/market-apps.ts"
import { tryLock } from "../../database/locks.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { repeated } from "../../jobs/timers.ts"
import { dayOf } from "../../lib/days.ts"
import type { Log } from "../../lib/log.ts"
import type { RecurringWork } from "../../lib/time.ts"
import { ESTIMATE_FORMULA } from "../formulas/downloads.ts"
import { readCalibration } from "../read/grades.ts"
import { gradeNext } from "./grade-month.ts"
import { type AppFigures, type EstimatedApp, makeEstimate } from "./make-estimate.ts"

/** Apps per batch. Each app takes three short queries in sequence, so that requests can use the database in between. */
const AT_ONCE = 50
const GRADE_EVERY_MS = 60_000
/** A count leaves the 30-day window after some time, so estimates are renewed even without new counts. */
const AGAIN_DAYS = 7

interface DueApp extends EstimatedApp {
  /** Timestamp in the text format of the database. An app whose timestamp changes during the run stays due. */
  nextAt: string
}

/** Makes the due estimates. When none is due, grades the last ended month. Any number of processes may run this job. */
export function createEstimates(
  { sql, log, now = () => new Date() }: { sql: Sql; log: Log; now?: () => Date },
  { pollMs = 1_000 } = {},
): RecurringWork {
  // a graded month is graded again only after an import, so a check every second would be wasted
  let gradeAt = 0
  const workOnce = async (): Promise<boolean> => {
    if ((await makeDue(sql, now())) > 0) return true
    if (now().getTime() < gradeAt) return false
    const turn = await gradeNext(sql, now())
    if (turn === "done") gradeAt = now().getTime() + GRADE_EVERY_MS
    return turn === "more"
  }
  return repeated(pollMs, async () => {
    try {
      return (await workOnce()) ? 0 : pollMs
    } catch (error) {
      log("warn", "estimates_failed", { reason: (error as Error).message })
      return 60 * pollMs
    }
  })
}

/**
 * Makes at most 50 estimates and starts with those that have been due longest. Returns the number of estimates made.
 * Returns 0 also if another process is storing estimates.
 */
export async function makeDue(sql: Sql, now: Date): Promise<number> {
  const due = await sql<DueApp[]>`
    select d.app_id as app, s.platform, s.genre, d.next_at::text as "nextAt"
    from estimate_due d
    join store_app s on s.id = d.app_id
    where d.next_at <= clock_timestamp()
    order by d.next_at, d.app_id
    limit ${AT_ONCE}`
  if (due.length === 0) return 0
  const made: MadeEstimate[] = []
  const asOf = dayOf(now)
  const calibration = await readCalibration(sql, asOf)
  for (const app of due) made.push({ ...app, figures: await makeEstimate(sql, app, { asOf, calibration }) })
  return await sql.begin(async (tx) => {
    if (!(await tryLock(tx, "estimates"))) return 0
    await storeEstimates(tx, made)
    await deriveMarketFigures(
      tx,
      made.map(({ app }) => app),
    )
    await endDue(tx, made)
    return made.length
  })
}

interface MadeEstimate extends DueApp {
  figures: AppFigures
}

async function storeEstimates(tx: Tx, made: readonly MadeEstimate[]): Promise<void> {
  await tx`
    insert into app_estimate (
      app_id, version, made_at, formula, day, markets, days, basis, pairs, coverage, downloads, downloads_low,
      downloads_high, downloads_under, revenue, revenue_low, revenue_high, revenue_under, revenue_markets, growth,
      growth_low, growth_high, genre, revenue_by
    )
    select r.app_id, v.version, clock_timestamp(), ${ESTIMATE_FORMULA}::smallint, r.day, r.markets, r.days, r.basis,
      r.pairs, r.coverage, r.downloads, r.downloads_low, r.downloads_high, r.downloads_under, r.revenue, r.revenue_low,
      r.revenue_high, r.revenue_under, r.revenue_markets, r.growth, r.growth_low, r.growth_high, r.genre, r.revenue_by
    from jsonb_to_recordset(${tx.json(made.map(rowOf))}) r (
      app_id int, day date, markets smallint, days smallint, basis text, pairs int, coverage float8, downloads float8,
      downloads_low float8, downloads_high float8, downloads_under float8, revenue float8, revenue_low float8,
      revenue_high float8, revenue_under float8, revenue_markets smallint, growth float8, growth_low float8,
      growth_high float8, genre text, revenue_by text
    )
    cross join (
      -- based on the clock: no version repeats after the newest rows and their apps are deleted
      select greatest(
          coalesce(max(version), 0) + 1, floor(extract(epoch from clock_timestamp()) * 1000)::bigint
        ) as version
      from app_estimate
    ) v
    order by r.app_id
    on conflict (app_id) do update
    set version = excluded.version, made_at = excluded.made_at, formula = excluded.formula, day = excluded.day,
      markets = excluded.markets, days = excluded.days, basis = excluded.basis, pairs = excluded.pairs,
      coverage = excluded.coverage, downloads = excluded.downloads, downloads_low = excluded.downloads_low,
      downloads_high = excluded.downloads_high, downloads_under = excluded.downloads_under,
      revenue = excluded.revenue, revenue_low = excluded.revenue_low, revenue_high = excluded.revenue_high,
      revenue_under = excluded.revenue_under, revenue_markets = excluded.revenue_markets, growth = excluded.growth,
      growth_low = excluded.growth_low, growth_high = excluded.growth_high, genre = excluded.genre,
      revenue_by = excluded.revenue_by`
}

function rowOf({ app, genre, figures }: MadeEstimate) {
  const { downloads, revenue, growth, markets, days, day } = figures
  return {
    app_id: app,
    day,
    markets,
    days,
    basis: downloads?.basis ?? null,
    pairs: downloads?.pairs ?? null,
    coverage: downloads?.coverage ?? null,
    downloads: downloads?.value ?? null,
    downloads_under: downloads?.under ?? null,
    downloads_low: downloads?.value == null ? null : downloads.low,
    downloads_high: downloads?.value == null ? null : downloads.high,
    revenue: revenue?.value ?? null,
    revenue_under: revenue?.under ?? null,
    revenue_low: revenue?.value == null ? null : revenue.low,
    revenue_high: revenue?.value == null ? null : revenue.high,
    revenue_markets: revenue?.markets ?? null,
    growth: growth?.percent ?? null,
    growth_low: growth?.low ?? null,
    growth_high: growth?.high ?? null,
    genre,
    revenue_by: revenue && figures.revenueBy,
  }
}

/** An app without any figure becomes due again only when something is recorded for it. */
async function endDue(tx: Tx, made: readonly MadeEstimate[]): Promise<void> {
  const rows = made.map(({ app, nextAt, figures: { downloads, revenue, growth } }) => {
    return { app, next_at: nextAt, known: downloads !== null || revenue !== null || growth !== null }
  })
  await tx`
    update estimate_due d
    set made_at = clock_timestamp(),
      next_at = case
        when d.next_at <> r.next_at then d.next_at
        when r.known then clock_timestamp() + ${AGAIN_DAYS}::int * interval '1 day'
      end
    from jsonb_to_recordset(${tx.json(rows)}) r (app int, next_at timestamptz, known boolean)
    where d.app_id = r.app`
}
