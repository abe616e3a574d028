import type { Sql, Tx } from "../../database/types.ts"
import { later } from "../../jobs/timers.ts"
import type { Alert } from "../alert.ts"
import type { FinalResult } from "./message.ts"
import { longestMs, pauseMs, type Retries, retryAfterMs } from "./schedule.ts"
import type { SealedChannel } from "./sealed-channel.ts"

/** A channel with its lease. Every statement for the channel takes effect only while this lease is valid. */
export interface LeasedChannel extends SealedChannel {
  lease: string
}

/** A delivery and its alert. */
export interface Head {
  id: string
  alert: Alert & { appName: string | null }
}

/** Leases up to `limit` channels that have a due delivery and no valid lease. */
export async function claimChannels(
  sql: Sql,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<LeasedChannel[]> {
  return await sql<LeasedChannel[]>`
    with due as materialized (
      select id
      from channel
      where next_at <= now() and disabled is null and (lease_until is null or lease_until < now())
      order by next_at, id
      limit ${limit}
      for no key update skip locked
    )
    update channel c
    set lease = gen_random_uuid(), lease_until = ${later(sql, leaseMs)}
    from due
    where c.id = due.id
    returning c.id, c.kind, c.sealed, case when c.earlier_until > now() then c.sealed_earlier end as "sealedEarlier",
      c.lease`
}

/**
 * Extends the lease and returns the oldest due delivery; those that failed before come last. Null if nothing is due or
 * the lease is lost: then nothing may be sent.
 */
export async function readHead(sql: Sql, { id, lease }: LeasedChannel, leaseMs: number): Promise<Head | null> {
  const [row] = await sql<HeadRow[]>`
    with held as (
      update channel
      set lease_until = ${later(sql, leaseMs)}
      where id = ${id} and lease = ${lease} and lease_until > clock_timestamp() and disabled is null
      returning id
    ), head as materialized (
      select d.id, d.alert_id
      from delivery d
      where d.channel_id = (select id from held) and d.state = 'waiting' and d.next_at <= now()
      order by d.attempts > 0, d.alert_id
      limit 1
    )
    select h.id as "deliveryId", ${alertColumns(sql)}
    from head h
    join alert a on a.id = h.alert_id
    left join tracked_app t on t.id = a.app_id`
  return row ? headOf(row) : null
}

type HeadRow = { deliveryId: string; appName: string | null } & Alert

const alertColumns = (sql: Sql) => sql`t.name as "appName", a.id, a.app_id as "appId", a.type, a.platform, a.storefront,
  a.subject, a.day, a.at, a.facts, a.read_at is not null as read, a.history`

function headOf({ deliveryId, ...alert }: HeadRow): Head {
  return { id: deliveryId, alert }
}

/** The deliveries of one event are searched among at most 500. Further ones become a message of their own. */
const MAX_TOGETHER = 500

/**
 * Returns a delivery and the other due deliveries of its channel whose alerts have the same day, newest alert first.
 */
export async function readDueOfDay(sql: Sql, { id, lease }: LeasedChannel, head: Head): Promise<Head[]> {
  const rows = await sql<HeadRow[]>`
    select d.id as "deliveryId", ${alertColumns(sql)}
    from delivery d
    join alert a on a.id = d.alert_id
    join channel c on c.id = d.channel_id and c.lease = ${lease}
    left join tracked_app t on t.id = a.app_id
    where d.channel_id = ${id} and d.state = 'waiting' and d.next_at <= now() and a.day = ${head.alert.day}::date
    order by d.id = ${head.id} desc, d.alert_id
    limit ${MAX_TOGETHER}`
  return rows.map(headOf).sort((a, b) => b.alert.id - a.alert.id)
}

/**
 * Stores the result of an attempt for all deliveries of its message. Returns false if the lease is lost; then nothing
 * is changed.
 */
export async function settle(
  sql: Sql,
  channel: LeasedChannel,
  { ids, sent, retries, gapMs }: { ids: readonly string[]; sent: FinalResult; retries: Retries; gapMs: number },
): Promise<boolean> {
  return (await sql.begin(async (tx) => {
    const locked = await hold(tx, channel)
    if (!locked) return false
    if (sent.result === "delivered") await endDelivered(tx, channel.id, ids, gapMs)
    else if (sent.result === "refused") await disable(tx, channel.id, sent.failure)
    else if (sent.result === "ended") await giveUp(tx, ids, sent.failure)
    else await noteFailed(tx, { channel: channel.id, ids, sent, retries, failures: locked.failures + 1 })
    return true
  })) as boolean
}

/** Ends the lease. The channel becomes due with its earliest waiting delivery. */
export async function release(sql: Sql, channel: LeasedChannel): Promise<void> {
  await sql.begin(async (tx) => {
    if (await hold(tx, channel))
      await tx`
        update channel c
        set lease = null, lease_until = null, next_at = (
          select case when min(d.next_at) is not null then greatest(min(d.next_at), c.paused_until) end
          from delivery d
          where d.channel_id = c.id and d.state = 'waiting'
        )
        where c.id = ${channel.id}`
  })
}

/** Pauses a channel that could not be opened. No attempt is counted. */
export async function setAside(sql: Sql, { id, lease }: LeasedChannel, failure: string, ms: number): Promise<void> {
  await sql`
    update channel
    set last_failure = now(), failure = ${failure}, paused_until = ${later(sql, ms)}
    where id = ${id} and lease = ${lease}`
}

/**
 * Locks the channel. Every change to its deliveries does this first, so that new deliveries are queued before or after
 * it, and none is missed.
 */
async function hold(tx: Tx, { id, lease }: LeasedChannel): Promise<{ failures: number } | undefined> {
  const [leased] = await tx<{ failures: number }[]>`
    select failures
    from channel
    where id = ${id} and lease = ${lease}
    for no key update`
  return leased
}

/** Marks deliveries as delivered, also one whose alert was withdrawn while the message was being sent. */
async function endDelivered(tx: Tx, channel: string, ids: readonly string[], gapMs: number): Promise<void> {
  await tx`
    update delivery
    set state = 'delivered', attempts = attempts + 1, next_at = null, ended_at = now(), failure = null
    where id = any(${ids as string[]}::text[]) and state <> 'delivered'`
  await tx`
    update channel
    set last_ok = now(), failures = 0, paused_until = case when ${gapMs}::float8 > 0 then ${later(tx, gapMs)} end
    where id = ${channel}`
}

interface Failure {
  channel: string
  ids: readonly string[]
  sent: Extract<FinalResult, { failure: string }> & { waitMs?: number }
  retries: Retries
  failures: number
}

/**
 * Schedules the next attempt. If the receiver asked to wait, the whole channel waits; a throttled attempt is not
 * counted.
 */
async function noteFailed(tx: Tx, { channel, ids, sent, retries, failures }: Failure): Promise<void> {
  const { failure, waitMs = 0 } = sent
  const counts = sent.result === "failed"
  const rows = await tx<{ id: string; attempts: number; old: boolean }[]>`
    update delivery
    set attempts = attempts + ${counts ? 1 : 0}::int, failure = ${failure}
    where id = any(${ids as string[]}::text[]) and state = 'waiting'
    returning id, attempts, created_at < ${later(tx, -longestMs(retries))} as old`
  const restMs = Math.max(waitMs, pauseMs(failures, retries))
  // a message of several deliveries is retried like the one with the most attempts, so that they stay together
  const attempts = Math.max(1, ...rows.map((row) => row.attempts))
  const gap = counts ? retryAfterMs(attempts, retries) : restMs
  const ended = rows.filter(({ old }) => gap === null || old).map(({ id }) => id)
  await giveUp(tx, ended)
  if (gap !== null)
    await tx`
      update delivery
      set next_at = ${later(tx, Math.max(gap, waitMs))}
      where id = any(${ids as string[]}::text[]) and state = 'waiting'`
  await tx`
    update channel
    set last_failure = now(), failure = ${failure}, failures = failures + 1, paused_until = ${later(tx, restMs)}
    where id = ${channel}`
}

async function giveUp(tx: Tx, ids: readonly string[], failure: string | null = null): Promise<void> {
  if (ids.length === 0) return
  await tx`
    update delivery
    set state = 'undelivered', next_at = null, ended_at = now(), failure = coalesce(${failure}, failure)
    where id = any(${ids as string[]}::text[]) and state = 'waiting'`
}

/** Disables a channel whose receiver refuses everything, and gives up its waiting deliveries. */
async function disable(tx: Tx, channel: string, failure: string): Promise<void> {
  await tx`
    update delivery
    set state = 'undelivered', next_at = null, ended_at = now(), failure = ${failure}
    where channel_id = ${channel} and state = 'waiting'`
  await tx`
    update channel
    set disabled = ${failure}, disabled_at = now(), last_failure = now(), failure = ${failure}, failures = failures + 1,
      next_at = null
    where id = ${channel}`
}
