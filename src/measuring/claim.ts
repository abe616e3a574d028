import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../database/types.ts"
import { later, stopwatch } from "../leases/timers.ts"
import type { Claimed } from "../leases/worker.ts"
import type { Platform } from "../observations/types.ts"
import type { Claim } from "./due.ts"
import type { DueName, DueWork } from "./kind.ts"
import type { Lane } from "./pace.ts"
import { everyPriority, PRIORITY } from "./priority.ts"

interface Row {
  kind: DueName
  platform: Platform
  storefront: string
  subject: string
  priority: number
  /** Null for one that nobody tracks any more: it is not claimed. */
  lease: string | null
  claimedAt: Date
}

// The lane was free and something due, but a statement of another process was just at it.
const CONTENDED = { pauseMs: 5, tries: 20 }

/**
 * One claim, or the milliseconds until there may be one: at most `pollMs`, and null when there is no such lane. Its lease
 * is as old as the statement that took it, whatever was waited for before.
 */
export async function claimNext<Work extends DueWork>(
  sql: Sql,
  lane: Lane | null,
  kinds: readonly Work[],
  { leaseMs, pollMs, now }: { leaseMs: number; pollMs: number; now: () => Date },
): Promise<Claimed<Claim<Work>>> {
  for (let misses = 0; ; ) {
    const since = stopwatch(now)
    const { claimed, again } = await claim(sql, lane, kinds, leaseMs)
    if (claimed) return { claims: [claimed], waitMs: 0, since }
    if (again) continue
    const waitMs = await untilNext(sql, lane, kinds, pollMs)
    if (waitMs !== 0) return { claims: [], waitMs }
    if (++misses === CONTENDED.tries) return { claims: [], waitMs: CONTENDED.pauseMs }
    await sleep(CONTENDED.pauseMs)
  }
}

/** Rows beyond those of one request that a claim looks at: so many that nobody tracks are forgotten in one go. */
const LOOK_BEYOND = 20

/**
 * Takes the lane's turn, where there is a lane, and the first that is due of these kinds, which all ask that upstream first: by priority, then by
 * how long it is due; with it others of its kind, platform and storefront, as many as one request takes. Both or none:
 * without something due no turn is used. Rows that nobody tracks any more are deleted on the way, and `again` says so
 * when nothing else was found: then there may be more behind them.
 */
export async function claim<Work extends DueWork>(
  sql: Sql,
  lane: Lane | null,
  kinds: readonly Work[],
  leaseMs: number,
): Promise<{ claimed: Claim<Work> | null; again: boolean }> {
  const rows = await takeFirst(sql, lane, kinds, leaseMs)
  const untracked = rows.filter(({ lease }) => lease === null)
  const forgotten = untracked.length > 0 ? await forget(sql, untracked) : 0
  const claimed = claimOf(
    rows.filter(({ lease }) => lease !== null),
    kinds,
  )
  return { claimed, again: claimed === null && forgotten > 0 }
}

async function takeFirst(sql: Sql, lane: Lane | null, kinds: readonly DueWork[], leaseMs: number): Promise<Row[]> {
  return await sql<Row[]>`
    with turn as materialized (
      ${turnOf(sql, lane)}
    ), head as materialized (
      select f.kind, f.platform, f.storefront, f.together
      from turn
      cross join lateral (${firstDue(sql, kinds)}) f
      order by f.priority, f.next_at, f.kind, f.platform, f.storefront, f.subject
      limit 1
    ), near as materialized (${nextTo(sql)}), chosen as materialized (
      select d.kind, d.platform, d.storefront, d.subject
      from near n
      join due d using (kind, platform, storefront, subject)
      where n.wanted and d.lease is null and d.next_at <= now()
      order by n.priority, n.next_at, n.subject
      limit (select together from head)
      for update of d skip locked
    ), fresh as materialized (
      select gen_random_uuid() as lease
    ), leased as (
      update due d
      set lease = f.lease, lease_until = ${later(sql, leaseMs)}
      from chosen c, fresh f
      where d.kind = c.kind and d.platform = c.platform and d.storefront = c.storefront and d.subject = c.subject
      returning d.kind, d.platform, d.storefront, d.subject, d.priority, d.lease
    ), moved as (
      update pace p
      set next_at = now() + t.gap_ms * interval '1 millisecond'
      from turn t
      where p.upstream = t.upstream and p.egress = t.egress and exists (select from chosen)
    )
    select kind, platform, storefront, subject, priority, lease, now() as "claimedAt"
    from leased
    union all
    select kind, platform, storefront, subject, priority, null, now()
    from near
    where not wanted
    order by kind, platform, storefront, subject`
}

/** Work without a lane asks no upstream: it always has a turn. */
function turnOf(sql: Sql, lane: Lane | null) {
  if (!lane) return sql`select null as upstream, null as egress, 0 as gap_ms`
  return sql`
    select upstream, egress, gap_ms
    from pace
    where upstream = ${lane.upstream} and egress = ${lane.egress} and next_at <= now()
    for update skip locked`
}

/** Where something may be due: a kind, and the storefront if it is read in some alone. */
function lookedAt(sql: Sql, kinds: readonly DueWork[]) {
  const places = kinds.flatMap((kind) =>
    (kind.storefronts ?? [null]).map((storefront) => ({ ...kind, place: storefront })),
  )
  return sql`
    unnest(
      ${places.map(({ name }) => name)}::text[],
      ${places.map(({ platform }) => platform)}::text[],
      ${places.map(({ place }) => place)}::text[],
      ${places.map(({ together }) => together)}::int[]
    ) k (kind, platform, storefront, together)
    cross join ${everyPriority(sql)}`
}

/** The first that is due of each kind, priority and, where it is read in some alone, storefront: a step in an index each. */
function firstDue(sql: Sql, kinds: readonly DueWork[]) {
  return sql`
    select d.*, k.together
    from ${lookedAt(sql, kinds)}
    cross join lateral (${firstOf(sql, sql`now()`)}) d`
}

function firstOf(sql: Sql, until: ReturnType<typeof later>) {
  return sql`
    (
      select kind, platform, storefront, subject, priority, next_at
      from due
      where k.storefront is null and kind = k.kind and platform = k.platform and priority = c.priority
        and lease is null and next_at <= ${until}
      order by next_at, storefront, subject
      limit 1
    )
    union all
    (
      select kind, platform, storefront, subject, priority, next_at
      from due
      where kind = k.kind and platform = k.platform and storefront = k.storefront and priority = c.priority
        and lease is null and next_at <= ${until}
      order by next_at, subject
      limit 1
    )`
}

/** The head and what is due beside it, each with whether anybody wants it. */
function nextTo(sql: Sql) {
  return sql`
    select d.*, coalesce(d.asked_until > now(), false) or d.kind = 'canary' or exists (
      select
      from tracked_subject s
      where s.kind = d.kind and s.platform = d.platform and s.storefront = d.storefront and s.subject = d.subject
    ) as wanted
    from (
      select d.*
      from head h
      cross join ${everyPriority(sql)}
      cross join lateral (
        select kind, platform, storefront, subject, priority, next_at, asked_until
        from due
        where kind = h.kind and platform = h.platform and storefront = h.storefront and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, subject
        limit h.together + ${LOOK_BEYOND}::int
      ) d
      order by d.priority, d.next_at, d.subject
      limit (select together + ${LOOK_BEYOND}::int from head)
    ) d`
}

async function forget(sql: Sql, rows: readonly Row[]): Promise<number> {
  const { kind, platform, storefront } = rows[0] as Row
  const [row] = await sql<{ gone: number }[]>`
    select forget_untracked(${kind}, ${platform}, ${storefront}, ${rows.map(({ subject }) => subject)}::text[]) as gone`
  return row?.gone ?? 0
}

function claimOf<Work extends DueWork>(rows: readonly Row[], kinds: readonly Work[]): Claim<Work> | null {
  const [first] = rows
  if (!first) return null
  const kind = kinds.find(({ name, platform }) => name === first.kind && platform === first.platform) as Work
  return {
    lease: first.lease as string,
    kind,
    subjects: rows.map(({ kind, platform, storefront, subject }) => ({ kind, platform, storefront, subject })),
    live: rows.some((row) => row.priority === PRIORITY.live),
    claimedAt: first.claimedAt,
  }
}

/**
 * Milliseconds until both the lane has a turn and something of these kinds is due, by what is known now; null when there
 * is no such lane. 0 also when another process is just taking it.
 */
export async function untilNext(
  sql: Sql,
  lane: Lane | null,
  kinds: readonly DueWork[],
  atMostMs: number,
): Promise<number | null> {
  const [row] = await sql<{ turnMs: number; dueMs: number | null }[]>`
    select extract(epoch from p.next_at - now())::float8 * 1000 as "turnMs", (
      select extract(epoch from min(d.next_at) - now())::float8 * 1000
      from ${lookedAt(sql, kinds)}
      cross join lateral (${firstOf(sql, later(sql, atMostMs))}) d
    ) as "dueMs"
    from ${lane ? sql`pace p where p.upstream = ${lane.upstream} and p.egress = ${lane.egress}` : sql`(select now() as next_at) p`}`
  return row ? Math.min(atMostMs, Math.max(0, row.turnMs, row.dueMs ?? atMostMs)) : null
}
