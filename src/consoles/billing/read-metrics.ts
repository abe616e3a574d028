import type { Db } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import type { AppAccount } from "../read/app-accounts.ts"

/** Figures computed by the service. Null if it returns none. */
interface ReckonedFigures {
  mrr: string | null
  activeSubscriptions: number | null
  activeTrials: number | null
}

export interface ReckonedDay extends ReckonedFigures {
  /** UTC. */
  day: string
  currency: string
  readAt: Date
}

interface BillingService extends Pick<AppAccount, "id" | "state" | "why"> {
  /** Number of apps in the service's project. The figures cover all of them together. */
  apps: number
  /** The latest figures, even from before the requested days. Null if none were read. */
  latest: ReckonedDay | null
  /** The requested days with figures, in order. */
  days: ReckonedDay[]
}

/** Returns the figures of the service that computes them for a tracked app. */
export async function readBillingService(
  sql: Db,
  { id, state, why }: AppAccount,
  { from, to }: Days,
): Promise<BillingService> {
  const [[{ apps } = { apps: 0 }], days, [latest = null]] = await Promise.all([
    sql<{ apps: number }[]>`
      select count(*)::int as apps
      from account_app
      where account_id = ${id}`,
    readDays(sql, id, { from, to }),
    readDays(sql, id, null),
  ])
  return { id, state, why, apps, latest, days }
}

const MAX_DAYS = 400

/** With null, only the latest day is returned. */
async function readDays(sql: Db, account: string, days: Days | null): Promise<ReckonedDay[]> {
  const rows = await sql<(Omit<ReckonedDay, keyof ReckonedFigures> & { rows: { metric: string; value: string }[] })[]>`
    select *
    from (
      select day, currency, seen_at as "readAt", rows
      from billing_metric_day
      where account_id = ${account}
        and (${days === null} or day between ${days?.from ?? null}::date and ${days?.to ?? null}::date)
      order by day desc
      limit ${days === null ? 1 : MAX_DAYS}
    ) newest
    order by day`
  return rows.map(({ rows, ...day }) => ({ ...day, ...figuresIn(rows) }))
}

function figuresIn(rows: readonly { metric: string; value: string }[]): ReckonedFigures {
  const figureOf = (name: string) => rows.find(({ metric }) => metric === name)?.value ?? null
  const count = (name: string) => {
    const value = Number(figureOf(name) ?? Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : null
  }
  const figures = { activeSubscriptions: count("active_subscriptions"), activeTrials: count("active_trials") }
  return { mrr: figureOf("mrr"), ...figures }
}
