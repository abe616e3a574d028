import type { Log } from "../log.ts"
import { foldLedger } from "./fold-ledger.ts"
import { tryLock } from "./locks.ts"
import type { Sql, Tx } from "./types.ts"

/** How many days each is kept; 0 for ever. */
export interface Kept {
  /** Then only monthly sums are left. The current and the previous month always stay whole. */
  ledgerDays: number
  /** Of failed reads; how the sources did by the hour, and alerts that are over, are kept as long. */
  attemptDays: number
  /** Finished jobs, from their end. */
  jobDays: number
  /** 0, or 365 and more: the table itself refuses less. */
  auditDays: number
  /** Of what was found, from when what shows it was seen. 0, or 7 and more: younger ones would be found again. */
  alertDays: number
}

/** How many rows went of each. */
export type Removed = Record<(typeof TABLES)[number], number>

const TABLES = [
  "ledger", "attempt", "job", "audit", "hive_day", "source_hour", "instance_alert", "export_part", "export",
  "share_link", "share_try", "hint_answer", "allowance_unit", "alert",
] as const // biome-ignore format: a list to scan

export interface RetentionOptions {
  /** Rows that one statement takes away at most: 100 took the embedded database 2 ms, and 9 ms at the 99th percentile. */
  chunk?: number
  /** Between two statements, so that requests get their turn on the embedded database. */
  pauseMs?: number
  signal?: AbortSignal
}

/**
 * Takes away what is older than it is to be kept, by the database's clock. Each statement stands for itself: cut off
 * anywhere, it is taken up again, and twice does no more than once. Of several processes one works at a time; the others
 * return at once. Returns what this call took away.
 */
export async function removeOld(sql: Sql, kept: Kept, options: RetentionOptions = {}): Promise<Removed> {
  const { chunk = 100, pauseMs = 20, signal } = options
  const removed = Object.fromEntries(TABLES.map((table) => [table, 0])) as Removed
  for (const [table, step] of stepsOf(kept, chunk)) {
    for (let more = true; more && !signal?.aborted; ) {
      const done = await alone(sql, step)
      if (!done) return removed
      removed[table] += done.removed
      more = done.more
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return removed
}

export interface Cleaning {
  /** Looks for the first time a minute after the start, then every hour. */
  start(): void
  /** Ends after the statement under way. */
  stop(): Promise<void>
}

/** Keeps a database to what is to be kept, for as long as a server runs. */
export function createCleaning(
  { sql, kept, log }: { sql: Sql; kept: Kept; log: Log },
  { firstMs = 60_000, everyMs = 3_600_000, ...options }: RetentionOptions & { firstMs?: number; everyMs?: number } = {},
): Cleaning {
  const stopping = new AbortController()
  const { signal } = stopping
  let working = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined
  const work = async () => {
    try {
      const removed = await removeOld(sql, kept, { ...options, signal })
      for (const [table, count] of Object.entries(removed))
        if (count > 0) log("info", `removed_old_${table}`, { count })
    } catch (error) {
      if (!signal.aborted) log("warn", "retention_failed", { reason: (error as Error).message })
    }
    wait(everyMs)
  }
  const wait = (ms: number) => {
    if (signal.aborted) return
    timer = setTimeout(() => {
      working = work()
    }, ms)
  }
  return {
    start: () => wait(firstMs),
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await working
    },
  }
}

/** One statement's work. */
type Step = (tx: Tx) => Promise<{ removed: number; more: boolean }>

function stepsOf(
  { ledgerDays, attemptDays, jobDays, auditDays, alertDays }: Kept,
  chunk: number,
): [keyof Removed, Step][] {
  const until = (remove: (tx: Tx) => Promise<number>): Step => {
    return async (tx) => {
      const removed = await remove(tx)
      return { removed, more: removed === chunk }
    }
  }
  const steps: [keyof Removed, Step][] = [
    ["hive_day", until((tx) => removeHiveDays(tx, chunk))],
    ["export_part", partStep(chunk)],
    ["export", until((tx) => removeExports(tx, chunk))],
    ["share_link", until((tx) => removeShareLinks(tx, chunk))],
    ["share_try", until((tx) => removeShareTries(tx, chunk))],
    ["hint_answer", until((tx) => removeHints(tx, chunk))],
    ["allowance_unit", until((tx) => removeUnits(tx, chunk))],
  ]
  if (attemptDays > 0)
    steps.push(
      ["attempt", until((tx) => removeAttempts(tx, attemptDays, chunk))],
      ["source_hour", until((tx) => removeSourceHours(tx, attemptDays, chunk))],
      ["instance_alert", until((tx) => removeInstanceAlerts(tx, attemptDays, chunk))],
    )
  if (ledgerDays > 0) steps.push(["ledger", ledgerStep(ledgerDays, chunk)])
  if (jobDays > 0)
    for (const status of ["done", "failed", "unknown"])
      steps.push(["job", until((tx) => removeJobs(tx, status, jobDays, chunk))])
  if (auditDays > 0) steps.push(["audit", until((tx) => removeAudit(tx, auditDays, chunk))])
  if (alertDays > 0) steps.push(["alert", until((tx) => removeAlerts(tx, alertDays, chunk))])
  return steps
}

/** Null when another process is at it. */
async function alone(sql: Sql, step: Step): Promise<Awaited<ReturnType<Step>> | null> {
  return (await sql.begin(async (tx) => {
    return (await tryLock(tx as Tx, "retention")) ? await step(tx as Tx) : null
  })) as Awaited<ReturnType<Step>> | null
}

/** Workspace after workspace, by the index that their charges have anyway: another would cost every charge. */
function ledgerStep(days: number, chunk: number): Step {
  let from = 0
  return async (tx) => {
    const { removed, next } = await foldLedger(tx, { days, chunk, from })
    from = next ?? from
    return { removed, more: next !== null }
  }
}

async function removeAttempts(tx: Tx, days: number, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from attempt
    where id in (
      select id
      from attempt
      where at < now() - ${days}::int * interval '1 day'
      order by at, id
      limit ${chunk}
    )`
  return count
}

async function removeSourceHours(tx: Tx, days: number, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from source_hour
    where (source, hour) in (
      select source, hour
      from source_hour
      where hour < now() - ${days}::int * interval '1 day'
      order by hour, source
      limit ${chunk}
    )`
  return count
}

/** An alert that is not over stays, however old. */
async function removeInstanceAlerts(tx: Tx, days: number, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from instance_alert
    where id in (
      select id
      from instance_alert
      where ended_at < now() - ${days}::int * interval '1 day'
      order by ended_at, id
      limit ${chunk}
    )`
  return count
}

async function removeJobs(tx: Tx, status: string, days: number, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from job
    where id in (
      select id
      from job
      where status = ${status} and finished_at < now() - ${days}::int * interval '1 day'
      order by finished_at, id
      limit ${chunk}
    )`
  return count
}

async function removeAudit(tx: Tx, days: number, chunk: number): Promise<number> {
  await tx`select set_config('appmeter.audit_retention', 'on', true)`
  const { count } = await tx`
    delete from audit
    where id in (
      select id
      from audit
      where at < now() - ${days}::int * interval '1 day'
      order by at, id
      limit ${chunk}
    )`
  return count
}

/** A day's count is asked for on that day alone. */
async function removeHiveDays(tx: Tx, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from hive_day
    where (workspace_id, day) in (
      select workspace_id, day
      from hive_day
      where day < (now() at time zone 'utc')::date - 40
      order by day, workspace_id
      limit ${chunk}
    )`
  return count
}

/** A link works for 7 days: a day later no download is under way, and who comes late was told why. */
const EXPORT_DAYS = 8

/** A part is up to a thousand times as large as other rows: fewer go at once. */
function partStep(chunk: number): Step {
  const fewer = Math.ceil(chunk / 10)
  return async (tx) => {
    const { count } = await tx`
      delete from export_part
      where (export_id, place) in (
        select p.export_id, p.place
        from export e
        join export_part p on p.export_id = e.id
        where e.created_at < now() - ${EXPORT_DAYS}::int * interval '1 day'
        order by e.created_at, e.id, p.place
        limit ${fewer}
      )`
    return { removed: count, more: count === fewer }
  }
}

/** Those whose parts are gone. */
async function removeExports(tx: Tx, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from export
    where id in (
      select e.id
      from export e
      where e.created_at < now() - ${EXPORT_DAYS}::int * interval '1 day'
        and not exists (
          select
          from export_part p
          where p.export_id = e.id
        )
      order by e.created_at, e.id
      limit ${chunk}
    )`
  return count
}

/** A link that is over opens nothing any more. */
async function removeShareLinks(tx: Tx, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from share_link
    where sha256 in (
      select sha256
      from share_link
      where expires_at <= now()
      order by expires_at, sha256
      limit ${chunk}
    )`
  return count
}

/** A try counts for a minute. */
async function removeShareTries(tx: Tx, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from share_try
    where sha256 in (
      select sha256
      from share_try
      where started_at < now() - interval '1 hour'
      order by started_at, sha256
      limit ${chunk}
    )`
  return count
}

/** With what was sent of them. */
async function removeAlerts(tx: Tx, days: number, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from alert
    where id in (
      select id
      from alert
      where at < now() - ${days}::int * interval '1 day'
      order by at, id
      limit ${chunk}
    )`
  return count
}

/** Figures are made of the last weeks' suggestions and kept themselves; a year's and a month's can be looked up. */
async function removeHints(tx: Tx, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from hint_answer
    where (platform, storefront, prefix, day, source) in (
      select platform, storefront, prefix, day, source
      from hint_answer
      where day < (now() at time zone 'utc')::date - 400
      order by day, platform, storefront, prefix, source
      limit ${chunk}
    )`
  return count
}

/** Closed units, which are counted by the month. One that is opened again meanwhile stays. */
async function removeUnits(tx: Tx, chunk: number): Promise<number> {
  const { count } = await tx`
    delete from allowance_unit
    where open_until < now() - interval '40 days'
      and (workspace_id, allowance, subject) in (
        select workspace_id, allowance, subject
        from allowance_unit
        where open_until < now() - interval '40 days'
        order by open_until, workspace_id, allowance, subject
        limit ${chunk}
      )`
  return count
}
