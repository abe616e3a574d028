import { AccessProblem } from "../access/problem.ts"
import type { Sealer } from "../access/sealed.ts"
import type { Recording } from "../core/recording.ts"
import type { Sql, Tx } from "../database/types.ts"
import { firstOf, later } from "../jobs/timers.ts"
import { createWorker, type Run, type Worker } from "../jobs/worker.ts"
import type { Log } from "../lib/log.ts"
import type { RawBody } from "../measuring/source.ts"
import type { AccountKindName, AccountReach, AccountTurn } from "./account-kind.ts"
import { accountKind } from "./account-kinds.ts"
import { ConsoleProblem } from "./console.ts"
import { openKey } from "./credentials.ts"
import { LeaseLost } from "./failed-question.ts"
import { type Look, storeLook } from "./look.ts"
import { endAlerts, noteState, noteTrouble, stateAfter } from "./state.ts"
import { nextTaskAt } from "./tasks.ts"

interface AccountReadingOptions {
  sql: Sql
  recording: Pick<Recording, "record">
  sealer: Sealer
  log: Log
  reach: AccountReach
  /** Stores a response body of an account unchanged. */
  keep?: (body: RawBody, account: string) => Promise<void>
  /** Cleans up stored bodies; `accounts` are the ids of all existing accounts. */
  sweepBodies?: (accounts: readonly string[]) => Promise<unknown>
  now?: () => Date
  pollMs?: number
  leaseMs?: number
  stopMs?: number
  /** Pause between two requests with one key. */
  gapMs?: number
  /** Maximum number of requests with one key before another account gets its turn. */
  atMost?: number
}

interface LeasedAccount {
  id: string
  workspaceId: number
  kind: AccountKindName
  part: string
  sealed: string
  /** True if the rights and apps have not been checked for a day. */
  isUnchecked: boolean
  isRevoked: boolean
  lease: string
}

const QUARTER_MS = 15 * 60_000
const HOUR_MS = 60 * 60_000

/**
 * Creates the worker that reads the data of connected accounts. Any number of processes may run it; each key has one
 * request at a time.
 */
export function createAccountReading(options: AccountReadingOptions): Worker {
  const { sql, log, pollMs = 1_000, leaseMs = 60_000, stopMs = 2_000 } = options
  return createWorker<"accounts", LeasedAccount>(
    {
      lanes: ["accounts"],
      atOnce: 4,
      claim: async (_, { limit }) => ({ claims: await claimAccounts(sql, limit, leaseMs), waitMs: null }),
      perform: (run) => readAccount(run, options),
      giveBack: (claim) => release(sql, claim),
      async extend(claims) {
        const rows = await sql<{ lease: string }[]>`
          update connected_account
          set lease_until = ${later(sql, leaseMs)}
          where lease = any(${claims.map(({ lease }) => lease)}::uuid[])
          returning lease`
        return new Set(rows.map(({ lease }) => lease))
      },
      async recover() {
        await forgetKeysOfTheGone(sql)
        await options.sweepBodies?.(await readIds(sql))
      },
    },
    { leaseMs, pollMs, stopMs, ends: firstOf(log, "account_worker_failed") },
  )
}

async function claimAccounts(sql: Sql, limit: number, leaseMs: number): Promise<LeasedAccount[]> {
  return await sql<LeasedAccount[]>`
    with claimed as materialized (
      select c.id
      from connected_account c
      join workspace w on w.id = c.workspace_id
      where c.next_at <= now() and c.sealed is not null and (c.lease_until is null or c.lease_until < now())
        and w.deleted_at is null
      order by c.next_at, c.id
      limit ${limit}
      for no key update of c skip locked
    )
    update connected_account c
    set lease = gen_random_uuid(), lease_until = ${later(sql, leaseMs)}
    from claimed
    where c.id = claimed.id
    returning c.id, c.workspace_id as "workspaceId", c.kind, c.part, c.sealed, c.lease,
      coalesce(c.checked_at < now() - interval '1 day', true) or c.state = 'limited' as "isUnchecked",
      c.state = 'revoked' as "isRevoked"`
}

/** Destroys the keys of deleted workspaces. */
async function forgetKeysOfTheGone(sql: Sql): Promise<void> {
  const gone = await sql<{ id: string }[]>`
    update connected_account
    set state = 'removed', state_since = now(), sealed = null, sealed_write = null, shown_write = null, writes = false,
      next_at = null, lease = null, lease_until = null
    where sealed is not null and workspace_id in (select id from workspace where deleted_at is not null)
    returning id`
  if (gone.length > 0)
    await endAlerts(
      sql,
      gone.map(({ id }) => id),
      "removed",
    )
}

/** Returns the ids of all accounts, removed ones included. */
async function readIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from connected_account
    order by id`
  return rows.map(({ id }) => id)
}

async function readAccount(run: Run<LeasedAccount>, options: AccountReadingOptions): Promise<void> {
  const { sql, log, sealer, reach } = options
  const { claim, abort } = run
  let waitMs: number | null = null
  try {
    const key = await openKey(sealer, claim.id, claim.sealed)
    waitMs = await readDue(run, options, await accountKind(claim.kind).open(key, claim.part, reach))
  } catch (error) {
    if (abort.signal.aborted) return
    if (error instanceof AccessProblem) {
      log("warn", "account_unreadable", { reason: error.message })
      waitMs = HOUR_MS
    } else if (error instanceof ConsoleProblem) {
      await noteTrouble(sql, claim, error)
      log("info", "account_read_failed", { operation: claim.kind, reason: error.message })
      waitMs = error.retryAfterMs ?? (claim.isRevoked ? REVOKED_MS : WAITS_MS[error.trouble])
    } else {
      // After an unexpected error, the account waits for an hour, so that the error does not cost a request at every
      // poll.
      waitMs = HOUR_MS
      throw error
    }
  } finally {
    await release(sql, { ...claim, waitMs })
  }
}

/** A revoked key is retried after this time, in case it was rejected by mistake. */
const REVOKED_MS = 6 * HOUR_MS

/**
 * How long an account waits after each problem. Rejected tokens are retried soon, until the key counts as revoked. A
 * role or an agreement needs a person, which takes longer.
 */
const WAITS_MS: Record<ConsoleProblem["trouble"], number> = {
  unauthorized: QUARTER_MS,
  forbidden: 60_000,
  agreement: 6 * HOUR_MS,
  limited: QUARTER_MS,
  unavailable: QUARTER_MS,
  refused: HOUR_MS,
}

/** Reads an account. Returns how long to wait before the key is used again. Null means until the next task is due. */
async function readDue(
  { claim, closing, abort }: Run<LeasedAccount>,
  { sql, recording, log, reach, keep: keepOf, now = reach.now, gapMs = 2_000, atMost = 100 }: AccountReadingOptions,
  way: unknown,
): Promise<number | null> {
  const kind = accountKind(claim.kind)
  if (claim.isUnchecked && !(await checkRights(sql, claim, await kind.look(way, claim.part, now())))) return LIMITED_MS
  const keep = async (body: RawBody) => keepOf?.(body, claim.id)
  const fence = (tx: Tx) => assertLease(tx, claim)
  const noteAnswer = () => noteTaken(sql, claim.id)
  const { signal } = abort
  const noteDenied = () => noteUnchecked(sql, claim.id)
  const { record } = recording
  const turn: AccountTurn = {
    sql,
    record,
    log,
    account: claim,
    now,
    keep,
    fence,
    noteAnswer,
    noteDenied,
    closing,
    signal,
    gapMs,
    atMost,
  }
  return (await kind.read?.(way, turn)) ?? null
}

/** Time after which the rights are checked again if a person must act at the console first. */
const LIMITED_MS = 6 * HOUR_MS

/** Stores the current rights. Returns whether anything may be read. */
async function checkRights(sql: Sql, claim: LeasedAccount, look: Look): Promise<boolean> {
  const { needs } = accountKind(claim.kind)
  await sql.begin(async (tx) => {
    await assertLease(tx, claim)
    await storeLook(tx, claim, look)
    await noteState(tx, claim.id, stateAfter(look, needs))
    await tx`
      update connected_account
      set checked_at = now()
      where id = ${claim.id}`
  })
  return look.rights.every(({ name, state }) => !needs.includes(name) || state !== "denied")
}

async function assertLease(tx: Tx, { id, lease }: LeasedAccount): Promise<void> {
  const leased = await tx`
    select
    from connected_account
    where id = ${id} and lease = ${lease} and lease_until > clock_timestamp()
    for no key update`
  if (leased.length === 0) throw new LeaseLost("the lease expired before the report was stored")
}

async function noteTaken(sql: Sql, id: string): Promise<void> {
  await sql`
    update connected_account
    set last_ok = now(), failures = 0, refused_since = null
    where id = ${id}`
}

/** Makes the next claim check the rights of the key first. */
async function noteUnchecked(sql: Sql, id: string): Promise<void> {
  await sql`
    update connected_account
    set checked_at = null
    where id = ${id}`
}

/**
 * Ends the lease. Without `waitMs` the account is due with its next task, and after at most an hour to find new tasks.
 * If the key was replaced during the lease, the account is due immediately.
 */
async function release(
  sql: Sql,
  { id, lease, sealed, waitMs = null }: Pick<LeasedAccount, "id" | "lease" | "sealed"> & { waitMs?: number | null },
) {
  await sql`
    update connected_account c
    set lease = null, lease_until = null, next_at = case
      when c.next_at is null then null
      when c.sealed is distinct from ${sealed} then now()
      when ${waitMs === null} then least(
        ${nextTaskAt(sql)}, now() + interval '1 hour'
      )
      else ${later(sql, waitMs)}
    end
    where c.id = ${id} and c.lease = ${lease}`
}
