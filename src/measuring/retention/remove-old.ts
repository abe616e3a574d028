import { tryLock } from "../../database/locks.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { repeated } from "../../jobs/timers.ts"
import { dayOf } from "../../lib/days.ts"
import type { Log } from "../../lib/log.ts"
import type { RecurringWork } from "../../lib/time.ts"
import { foldLedger } from "./fold-ledger.ts"
import { type AgingRows, agingOf, type Retention, type RetentionDays, type Sweep } from "./tables.ts"

type RemovedRows = Record<string, number>

interface RetentionOptions {
  /** Maximum rows per statement: 100 take the embedded database 2 ms, and 9 ms at the 99th percentile. */
  chunk?: number
  /** Pause between two statements, so that requests get a turn on the embedded database. */
  pauseMs?: number
  signal?: AbortSignal
  /** False skips the daily sweeps. */
  runsDailySweeps?: boolean
}

/**
 * Deletes and packs old rows. Each statement is complete in itself, so that the next run continues an interrupted one.
 * One process runs at a time.
 */
export async function removeOld(
  sql: Sql,
  retention: Retention,
  retentionDays: RetentionDays,
  options: RetentionOptions = {},
): Promise<RemovedRows> {
  const { chunk = 100, pauseMs = 20, signal, runsDailySweeps = true } = options
  const tables = [...agingOf(retention), ...retention.sweeps].map(({ table }) => table)
  const removed: RemovedRows = Object.fromEntries([...tables, "ledger"].map((table) => [table, 0]))
  for (const [table, step] of stepsOf(retention, retentionDays, { chunk, runsDailySweeps })) {
    for (let more = true; more && !signal?.aborted; ) {
      const done = await runAlone(sql, step)
      if (!done) return removed
      removed[table]! += done.removed
      more = done.more
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return removed
}

interface CleaningOptions extends Omit<RetentionOptions, "signal" | "runsDailySweeps"> {
  firstMs?: number
  everyMs?: number
  now?: () => Date
}

export function createCleaning(
  { sql, retention, retentionDays, log }: { sql: Sql; retention: Retention; retentionDays: RetentionDays; log: Log },
  { firstMs = 60_000, everyMs = 3_600_000, now = () => new Date(), ...options }: CleaningOptions = {},
): RecurringWork {
  let sweptOn = ""
  return repeated(firstMs, async (signal) => {
    try {
      const today = dayOf(now())
      const removed = await removeOld(sql, retention, retentionDays, {
        ...options,
        signal,
        runsDailySweeps: sweptOn !== today,
      })
      sweptOn = today
      for (const [table, count] of Object.entries(removed))
        if (count > 0) log("info", "rows_deleted", { operation: table, count })
    } catch (error) {
      if (!signal.aborted) log("warn", "retention_failed", { reason: (error as Error).message })
    }
    return everyMs
  })
}

type Step = (tx: Tx) => Promise<{ removed: number; more: boolean }>

function stepsOf(
  retention: Retention,
  retentionDays: RetentionDays,
  { chunk, runsDailySweeps }: { chunk: number; runsDailySweeps: boolean },
): [table: string, step: Step][] {
  const daysOf = ({ keep }: AgingRows) =>
    typeof keep === "number" ? keep : retentionDays[keep] || Number.POSITIVE_INFINITY
  const aging = agingOf(retention).filter((rows) => Number.isFinite(daysOf(rows)))
  const sweeps = retention.sweeps.filter(({ isDaily }) => !isDaily || runsDailySweeps)
  return [
    ...aging.map((rows): [string, Step] => [rows.table, removal(rows, daysOf(rows), chunk)]),
    ...sweeps.map(({ table, sweep }): [string, Step] => [table, sweepStep(sweep, chunk)]),
    ...(retentionDays.ledgerDays > 0
      ? [["ledger", ledgerStep(retentionDays.ledgerDays, chunk)] as [string, Step]]
      : []),
  ]
}

/** Runs a step under the retention lock. Null if another process holds it. */
async function runAlone(sql: Sql, step: Step): Promise<Awaited<ReturnType<Step>> | null> {
  return (await sql.begin(async (tx) => {
    return (await tryLock(tx, "retention")) ? await step(tx) : null
  })) as Awaited<ReturnType<Step>> | null
}

/** Deletes old rows. They are locked first, so that a row renewed in the meantime stays. */
function removal(rows: AgingRows, days: number, chunk: number): Step {
  const { table, time, day, owner, where, weight = 1, allowedBy } = rows
  const most = Math.ceil(chunk / weight)
  return async (tx) => {
    const column = tx(time ?? day!)
    const until = day
      ? tx`(now() at time zone 'utc')::date - ${days}::int`
      : tx`now() - ${days}::float8 * interval '1 day'`
    const isOld = owner
      ? tx`${tx(owner.key)} = any(array(select id from ${tx(owner.table)} where ${column} < ${until}))`
      : tx`${column} < ${until} ${where ? tx`and ${where(tx)}` : tx``}`
    if (allowedBy) await tx`select set_config(${allowedBy}, 'on', true)`
    const { count } = await tx`
      delete from ${tx(table)}
      where ctid = any(array(
        select ctid
        from ${tx(table)}
        where ${isOld}
        order by ${owner ? tx(owner.key) : column}
        limit ${most}
        for update skip locked
      ))`
    return { removed: count, more: count === most }
  }
}

/**
 * Goes through the workspaces one by one. This uses an index that charges need anyway; an additional index would slow
 * every charge.
 */
function ledgerStep(days: number, chunk: number): Step {
  return sweepStep((tx, step) => foldLedger(tx, { days, ...step }), chunk)
}

function sweepStep(sweep: Sweep["sweep"], chunk: number): Step {
  let from = 0
  return async (tx) => {
    const { removed, next } = await sweep(tx, { chunk, from })
    from = next ?? from
    return { removed, more: next !== null }
  }
}
