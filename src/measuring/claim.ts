import { setTimeout as sleep } from "node:timers/promises"
import type { Platform } from "../core/observation/provenance.ts"
import type { Sql } from "../database/types.ts"
import { later, stopwatch } from "../jobs/timers.ts"
import type { ClaimResult } from "../jobs/worker.ts"
import type { Claim } from "./due.ts"
import type { DueName, DueWork } from "./due-kind.ts"
import type { Lane } from "./pace.ts"
import { everyPriority, PRIORITY } from "./priority.ts"

interface DueRow {
  kind: DueName
  platform: Platform
  storefront: string
  subject: string
  priority: number
  /** Null if nobody tracks the subject any more; the row is then not claimed. */
  lease: string | null
  claimedAt: Date
}

// Retries when the lane was free and a row was due, but another process was claiming it.
const CONTENDED = { pauseMs: 5, tries: 20 }

/**
 * Returns a claim, or the milliseconds until the next claim may succeed. Null if the lane was never opened. A lease
 * starts with the statement that claims the work.
 */
export async function claimNext<Work extends DueWork>(
  sql: Sql,
  lane: Lane | null,
  kinds: readonly Work[],
  { leaseMs, pollMs, now }: { leaseMs: number; pollMs: number; now: () => Date },
): Promise<ClaimResult<Claim<Work>>> {
  for (let misses = 0; ; ) {
    const since = stopwatch(now)
    const { claimed, again } = await claim(sql, lane, kinds, leaseMs)
    if (claimed) return { claims: [claimed], waitMs: 0, since }
    if (again) continue
    const waitMs = await readWait(sql, lane, kinds, pollMs)
    if (waitMs !== 0) return { claims: [], waitMs }
    if (++misses === CONTENDED.tries) return { claims: [], waitMs: CONTENDED.pauseMs }
    await sleep(CONTENDED.pauseMs)
  }
}

/** Rows that a claim reads beyond one request, so that many untracked rows are deleted at once. */
const LOOK_BEYOND = 20

/**
 * Takes the lane's turn together with the first due row and further rows of the same kind and storefront that fit into
 * one request. Takes nothing if the lane has no turn or no row is due. Deletes the untracked rows that it finds;
 * `again` means that further due rows may follow them.
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

async function takeFirst(sql: Sql, lane: Lane | null, kinds: readonly DueWork[], leaseMs: number): Promise<DueRow[]> {
  const { names, platforms, storefronts, togethers } = placesOf(kinds)
  return await sql<DueRow[]>`
    select kind, platform, storefront, subject, priority, lease, claimed_at as "claimedAt"
    from claim_due(
      ${lane?.upstream ?? null}, ${lane?.egress ?? null}, ${names}::text[], ${platforms}::text[],
      ${storefronts}::text[], ${togethers}::int[], ${LOOK_BEYOND}, ${leaseMs}::float8 * interval '1 millisecond'
    )`
}

/** Returns the kinds that may be due, with a storefront if a kind is read only in some storefronts. */
function placesOf(kinds: readonly DueWork[]) {
  const places = kinds.flatMap((kind) =>
    (kind.storefronts ?? [null]).map((storefront) => ({ ...kind, place: storefront })),
  )
  return {
    names: places.map(({ name }) => name),
    platforms: places.map(({ platform }) => platform),
    storefronts: places.map(({ place }) => place),
    togethers: places.map(({ together }) => together),
  }
}

function lookedAt(sql: Sql, kinds: readonly DueWork[]) {
  const { names, platforms, storefronts } = placesOf(kinds)
  return sql`
    unnest(${names}::text[], ${platforms}::text[], ${storefronts}::text[]) k (kind, platform, storefront)
    cross join ${everyPriority(sql)}`
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

async function forget(sql: Sql, rows: readonly DueRow[]): Promise<number> {
  const { kind, platform, storefront } = rows[0] as DueRow
  const [row] = await sql<{ gone: number }[]>`
    select forget_untracked(${kind}, ${platform}, ${storefront}, ${rows.map(({ subject }) => subject)}::text[]) as gone`
  return row?.gone ?? 0
}

function claimOf<Work extends DueWork>(rows: readonly DueRow[], kinds: readonly Work[]): Claim<Work> | null {
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
 * Returns the milliseconds until the lane has a turn and a row is due. 0 also while another process is claiming. Null
 * if the lane was never opened.
 */
export async function readWait(
  sql: Sql,
  lane: Lane | null,
  kinds: readonly DueWork[],
  atMostMs: number,
): Promise<number | null> {
  const turn = lane
    ? sql`pace p where p.upstream = ${lane.upstream} and p.egress = ${lane.egress}`
    : sql`(select now() as next_at) p`
  const [row] = await sql<{ turnMs: number; dueMs: number | null }[]>`
    select extract(epoch from p.next_at - now())::float8 * 1000 as "turnMs", (
      select extract(epoch from min(d.next_at) - now())::float8 * 1000
      from ${lookedAt(sql, kinds)}
      cross join lateral (${firstOf(sql, later(sql, atMostMs))}) d
    ) as "dueMs"
    from ${turn}`
  return row ? Math.min(atMostMs, Math.max(0, row.turnMs, row.dueMs ?? atMostMs)) : null
}
