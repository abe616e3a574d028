import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../database/types.ts"
import { single } from "../jobs/timers.ts"
import type { Asker, LiveSubject } from "../lib/live-read.ts"
import type { Kind } from "./due-kind.ts"
import { PRIORITY } from "./priority.ts"
import { tracking } from "./rescheduling.ts"

interface QueuePosition {
  /** Milliseconds until the upstream's next turn plus the turns of waiting callers. */
  turnMs: number
  /** Milliseconds for the turns of everything else that is due at the upstream. */
  dueMs: number
  /** True if the subject is already requested or being read. */
  isJoined: boolean
  /** Number of requests of the same workspace that are still pending. */
  pendingRequests: number
}

/** Maximum number of rows to count: a higher count would make no difference. */
const COUNTED = 10_000

interface Place {
  kind: Kind
  kinds: readonly Kind[]
  egress: string
  wanted: LiveSubject
  asker: Asker | undefined
}

export async function readAhead(sql: Sql, { kind, kinds, egress, wanted, asker }: Place): Promise<QueuePosition> {
  const { storefront, subject } = wanted
  const there = kinds.filter(({ upstream }) => upstream === kind.upstream)
  const [row] = await sql<[QueuePosition]>`
    select coalesce(greatest(0, extract(epoch from p.next_at - now()) * 1000), 0)::float8
        + coalesce(p.gap_ms, 0) * (
          select count(*)
          from due d
          where d.priority = ${PRIORITY.live} and d.lease is null and d.next_at <= now()
            and (d.kind, d.platform) = (${kind.name}, ${kind.platform})
            and (d.storefront, d.subject) <> (${storefront}, ${subject})
        )::float8 as "turnMs",
      coalesce(p.gap_ms, 0) * (
        select coalesce(sum(ceil(c.due::float8 / k.together)), 0)
        from unnest(
          ${there.map(({ name }) => name)}::text[],
          ${there.map(({ platform }) => platform)}::text[],
          ${there.map(({ together }) => together)}::int[]
        ) k (kind, platform, together)
        cross join (values (${PRIORITY.paying}::int), (${PRIORITY.free}::int), (${PRIORITY.rivals}::int)) b (priority)
        cross join lateral (
          select count(*) as due
          from (
            select
            from due d
            where d.kind = k.kind and d.platform = k.platform and d.priority = b.priority and d.lease is null
              and d.next_at <= now()
            limit ${COUNTED}
          ) d
        ) c
      )::float8 as "dueMs",
      exists (
        select
        from due d
        where (d.kind, d.platform, d.storefront, d.subject)
            = (${kind.name}, ${kind.platform}, ${storefront}, ${subject})
          and (d.lease is not null or d.priority = ${PRIORITY.live} and d.asked_until > now())
      ) as "isJoined",
      (
        select count(*)::int
        from due d
        where d.asked_by = ${asker?.workspaceId ?? null} and d.asked_until > now()
      ) as "pendingRequests"
    from (select 1) one
    left join pace p on (p.upstream, p.egress) = (${kind.upstream}, ${egress})`
  return row
}

/** The share of an upstream's turns that one workspace may use for live reads. */
const SHARE = 1 / 4
/** The share of an upstream's turns that all workspaces together may use for live reads. */
const SHARE_OF_ALL = 3 / 4
/** Number of turns that one workspace may use at once after a pause without live reads. */
const AT_ONCE = 6
/** Number of turns that all workspaces together may use at once after a pause without live reads. */
const AT_ONCE_OF_ALL = 20
const ALL = 0

/**
 * Charges a request to the workspace's share and to the common share. Returns false if either is used up. The shares
 * refill with the pace.
 */
export async function takeShare(
  sql: Sql,
  { upstream, requests }: Kind,
  egress: string,
  asker: Asker,
): Promise<boolean> {
  const of = (workspaceId: number, share: number, atOnce: number) => sql`
    insert into live_share as s (workspace_id, upstream, used_until)
    select ${workspaceId}, ${upstream}, now() + (select gap from pace_now) * ${requests / share}::float8
    on conflict (workspace_id, upstream) do update
    set used_until = greatest(s.used_until, now()) + (select gap from pace_now) * ${requests / share}::float8
    where s.used_until <= now() + (select gap from pace_now) * ${(atOnce - 1) / share}::float8
    returning 1`
  const paceNow = sql`
    with pace_now as materialized (
      select coalesce(min(gap_ms) filter (where egress = ${egress}), min(gap_ms), 0) * interval '1 millisecond' as gap
      from pace
      where upstream = ${upstream}
    )`
  const ownShare = await sql`${paceNow} ${of(asker.workspaceId, SHARE, AT_ONCE)}`
  if (ownShare.length === 0) return false
  const all = await sql`${paceNow} ${of(ALL, SHARE_OF_ALL, AT_ONCE_OF_ALL)}`
  if (all.length > 0) return true
  await sql`
    ${paceNow}
    update live_share
    set used_until = used_until - (select gap from pace_now) * ${requests / SHARE}::float8
    where workspace_id = ${asker.workspaceId} and upstream = ${upstream}`
  return false
}

export interface Ask {
  wanted: LiveSubject
  asker: Asker | undefined
  priority: (typeof PRIORITY)["live" | "behind"]
  /** Milliseconds for which the caller waits. */
  forMs: number
  /** Delay in milliseconds. The subject becomes due earlier if the data that it depends on is read earlier. */
  afterMs?: number
}

export interface AskMark {
  /** True if nobody had requested the subject and it was not being read. */
  isNew: boolean
  askedAt: Date
  lastAttempt: number
}

/** Makes a subject due at once, unless it is being read. */
export async function putDue(sql: Sql, { wanted, asker, priority: place, forMs, afterMs = 0 }: Ask): Promise<AskMark> {
  const { kind, platform, storefront, subject } = wanted
  const [row] = await sql<[AskMark]>`
    with before as materialized (
      select lease is not null or asked_until is not null and asked_until > now() as joined
      from due
      where (kind, platform, storefront, subject) = (${kind}, ${platform}, ${storefront}, ${subject})
      for update
    ), put as (
      insert into due as held (kind, platform, storefront, subject, priority, next_at, asked_by, asked_until)
      select ${kind}, ${platform}, ${storefront}, ${subject}, ${place},
        now() + ${afterMs}::float8 * interval '1 millisecond', ${asker?.workspaceId ?? null},
        now() + ${forMs}::float8 * interval '1 millisecond'
      -- forces the CTE before to read and lock the row first
      from (select count(*) from before) looked
      on conflict (kind, platform, storefront, subject) do update
      set priority = least(held.priority, excluded.priority), next_at = least(held.next_at, excluded.next_at),
        asked_by = case when held.asked_until > now() then held.asked_by else excluded.asked_by end,
        asked_until = greatest(held.asked_until, excluded.asked_until)
      where held.lease is null
      returning xmax = 0 as "isNew"
    )
    -- a row that another call wrote meanwhile is neither new nor in before
    select coalesce((select not joined from before), (select "isNew" from put), false) as "isNew", now() as "askedAt",
      coalesce((select max(id) from attempt), 0) as "lastAttempt"`
  return row
}

export interface ForgetQueue {
  add(wanted: LiveSubject): void
}

/** Maximum number of attempts to reset a subject. An attempt fails while another process is tracking the subject. */
const TRIES = 50
/** Milliseconds between two attempts. */
const APART_MS = 200

/**
 * Creates the queue that resets subjects for which nobody waits any more, unless others request them or they are being
 * read.
 */
export function createForgetting(sql: Sql): ForgetQueue {
  const pending = new Map<string, { wanted: LiveSubject; tries: number }>()
  const work = async () => {
    const batch = [...pending.values()]
    pending.clear()
    const left = await forgetAsks(
      sql,
      batch.map(({ wanted }) => wanted),
    )
    const again = batch.filter(({ wanted, tries }) => tries < TRIES && left.has(nameOf(wanted)))
    if (again.length === 0) return
    await sleep(APART_MS)
    for (const { wanted, tries } of again) pending.set(nameOf(wanted), { wanted, tries: tries + 1 })
    forgetting.go()
  }
  // rows that could not be deleted are skipped when their turn comes (claim.ts)
  const forgetting = single(work, { worked() {}, failed() {} })
  return {
    add(wanted) {
      pending.set(nameOf(wanted), { wanted, tries: 0 })
      forgetting.go()
    },
  }
}

const nameOf = ({ kind, platform, storefront, subject }: LiveSubject) => `${kind} ${platform} ${storefront} ${subject}`

/** Resets the subjects and returns those that should be deleted but still exist. */
async function forgetAsks(sql: Sql, asks: readonly LiveSubject[]): Promise<Set<string>> {
  const those = sql`
    unnest(
      ${asks.map(({ kind }) => kind)}::text[],
      ${asks.map(({ platform }) => platform)}::text[],
      ${asks.map(({ storefront }) => storefront)}::text[],
      ${asks.map(({ subject }) => subject)}::text[]
    ) a (kind, platform, storefront, subject)`
  await sql`
    update due u
    set priority = t.priority, asked_by = null, asked_until = null
    from ${those}
    join due d using (kind, platform, storefront, subject)
    cross join lateral (${tracking(sql)}) t
    where (u.kind, u.platform, u.storefront, u.subject) = (d.kind, d.platform, d.storefront, d.subject)
      and u.lease is null and u.asked_until <= now()`
  await sql`
    select forget_untracked(kind, platform, storefront, array_agg(subject))
    from ${those}
    group by kind, platform, storefront
    order by kind, platform, storefront
    limit ${asks.length}`
  const left = await sql<LiveSubject[]>`
    select d.kind, d.platform, d.storefront, d.subject
    from ${those}
    join due d using (kind, platform, storefront, subject)
    where d.lease is null and (d.asked_until is null or d.asked_until <= now()) and not exists (
      select
      from tracked_subject t
      where t.kind = d.kind and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
      offset 0
    )
    order by d.kind, d.platform, d.storefront, d.subject
    limit ${asks.length}`
  return new Set(left.map(nameOf))
}
