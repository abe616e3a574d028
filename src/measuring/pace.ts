import { setTimeout as sleep } from "node:timers/promises"
import type { Fragment } from "postgres"
import type { Db, Sql } from "../database/types.ts"
import { later } from "../jobs/timers.ts"
import type { Assistant, Upstream } from "../lib/upstreams.ts"

/** An upstream as seen from one egress address. Each lane has its own pace. */
export interface Lane {
  upstream: Upstream
  egress: string
}

/** An assistant's lane, shared by all processes whatever their addresses. */
interface AssistantLane {
  upstream: Assistant
  egress: ""
}

/**
 * Minimum interval between requests. Apple documents about 20 calls a minute for its search API; Google Play refused
 * after 70 to 80 requests in succession.
 */
export const BASE_GAPS_MS: ReadonlyMap<Upstream, number> = new Map([
  ["apps.apple.com", 1_000],
  ["itunes.apple.com", 3_000],
  ["search.itunes.apple.com", 1_000],
  ["play.google.com", 2_000],
  ["developer-sites", 1_000],
  // CDNs; a page shows a dozen pictures at once
  ["store-pictures", 250],
])

/** Creates the lane's row or changes its base gap. A gap that refusals have lengthened stays. */
export async function openLane(sql: Sql, { upstream, egress }: Lane | AssistantLane, gapMs: number): Promise<void> {
  await sql`
    insert into pace as p (upstream, egress, base_gap_ms, gap_ms)
    values (${upstream}, ${egress}, ${gapMs}, ${gapMs})
    on conflict (upstream, egress) do update
    set base_gap_ms = excluded.base_gap_ms,
      gap_ms = case when p.gap_ms = p.base_gap_ms then excluded.gap_ms else greatest(p.gap_ms, excluded.gap_ms) end
    where p.base_gap_ms <> excluded.base_gap_ms`
}

/**
 * Returns SQL that takes the lane's turn within the statement that claims work. It returns a row if the lane is free
 * and there is work.
 */
export function takeFreeTurn(sql: Db, { upstream, egress }: AssistantLane, hasWork: Fragment): Fragment {
  return sql`
    update pace
    set next_at = now() + gap_ms * interval '1 millisecond'
    where upstream = ${upstream} and egress = ${egress} and next_at <= now() and ${hasWork}
    returning upstream`
}

/** Thrown if no turn is free in time: the lane is booked, or pausing after a refusal. */
export class NoTurn extends Error {
  override name = "NoTurn"
  /** Milliseconds until the lane's next free turn. */
  readonly waitMs: number

  constructor({ upstream }: Lane, waitMs: number) {
    super(`no turn at ${upstream} in time`)
    this.waitMs = waitMs
  }
}

interface Hurry {
  /** Milliseconds from now within which the turn must come. */
  withinMs: number
  /** True if a caller is waiting; the turn may then be booked ahead by up to `withinMs`. */
  live: boolean
  /** True to book nothing ahead, so that other work can take the next turn first. */
  yields?: boolean
  signal: AbortSignal
}

/** Work without a waiting caller books at most this far ahead, and leaves later turns to callers that wait. */
const BULK_AHEAD_MS = 3_000

/**
 * Books a turn in one statement and sleeps until then, without holding a connection. Throws NoTurn or the signal's
 * reason.
 */
export async function takeTurn(sql: Sql, lane: Lane, { withinMs, live, yields, signal }: Hurry): Promise<void> {
  const until = performance.now() + withinMs
  for (;;) {
    const leftMs = Math.max(0, until - performance.now())
    const aheadMs = live ? leftMs : Math.min(leftMs, yields ? 0 : BULK_AHEAD_MS)
    const { bookedAt, waitMs, freeMs } = await takeBooking(sql, lane, aheadMs)
    if (waitMs === null && freeMs > leftMs) throw new NoTurn(lane, freeMs)
    await sleep(Math.ceil(waitMs ?? Math.max(1, freeMs - aheadMs)), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    )
    // the upstream refused during the wait: the turn is no longer valid
    if (waitMs !== null && (waitMs < 1 || !(await hasRefusedSince(sql, lane, bookedAt)))) return
  }
}

interface Booking {
  bookedAt: Date
  /** Milliseconds until the turn. Null if it was too far ahead and nothing was booked. */
  waitMs: number | null
  /** Milliseconds until the next free turn, before this booking. */
  freeMs: number
}

async function takeBooking(sql: Sql, lane: Lane, aheadMs: number): Promise<Booking> {
  const { upstream, egress } = lane
  const [booking] = await sql<Booking[]>`
    with booked as (
      update pace
      set next_at = greatest(next_at, now()) + gap_ms * interval '1 millisecond'
      where upstream = ${upstream} and egress = ${egress} and next_at <= ${later(sql, aheadMs)}
      returning greatest(0, ${msUntil(sql, sql`next_at - gap_ms * interval '1 millisecond'`)}) as wait_ms
    )
    select now() as "bookedAt", b.wait_ms as "waitMs", greatest(1, ${msUntil(sql, sql`p.next_at`)}) as "freeMs"
    from pace p
    left join booked b on true
    where p.upstream = ${upstream} and p.egress = ${egress}`
  if (!booking) throw new Error(`${upstream} has no pace yet`)
  return booking
}

async function hasRefusedSince(sql: Sql, { upstream, egress }: Lane, since: Date): Promise<boolean> {
  const rows = await sql`
    select 1
    from pace
    where upstream = ${upstream} and egress = ${egress} and refused_at > ${since}`
  return rows.length > 0
}

/** Number of consecutive answers after which the gap shrinks. */
const CALM_ANSWERS = 20

/**
 * Counts an answer. After 20 in a row the gap shrinks by a fifth, at least to its base. Returns true for the first
 * answer after a refusal.
 */
export async function noteAnswer(sql: Sql, { upstream, egress }: Lane, sinceTurnMs: number): Promise<boolean> {
  const [row] = await sql<{ refusals: number }[]>`
    with held as materialized (
      select refusals
      from pace
      where upstream = ${upstream} and egress = ${egress}
      for update
    )
    update pace p
    set answers = p.answers + 1, refusals = 0,
      gap_ms = case
        when (p.answers + 1) % ${CALM_ANSWERS}::int = 0 then greatest(p.base_gap_ms, floor(p.gap_ms * 0.8)::int)
        else p.gap_ms
      end
    from held h
    where p.upstream = ${upstream} and p.egress = ${egress}
      and (p.refused_at is null or p.refused_at <= ${later(sql, -sinceTurnMs)})
    returning h.refusals`
  return (row?.refusals ?? 0) > 0
}

interface Refusal {
  sinceTurnMs: number
  retryAfterMs: number | undefined
  random: number
}

const LONGEST_GAP_MS = 60_000
const PAUSE = { baseMs: 15_000, capMs: 3_600_000 }
/** Upper limit for an upstream's Retry-After. */
const LONGEST_RETRY_AFTER_MS = 86_400_000

/**
 * Counts a refusal: the gap grows by 60 %, and the lane pauses for the Retry-After, or for a random part of 15 s,
 * doubled for each refusal in a row. Returns true for the first refusal since an answer.
 */
export async function noteRefusal(sql: Sql, { upstream, egress }: Lane, refusal: Refusal): Promise<boolean> {
  const { sinceTurnMs, random } = refusal
  const retryAfterMs = Math.min(refusal.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS)
  const [row] = await sql<{ isFirst: boolean }[]>`
    with held as materialized (
      select refusals, coalesce(refused_at > ${later(sql, -sinceTurnMs)}, false) as known,
        least(greatest(${LONGEST_GAP_MS}::int, base_gap_ms), ceil(greatest(gap_ms, 1) * 1.6)::int) as longer_ms
      from pace
      where upstream = ${upstream} and egress = ${egress}
      for update
    )
    update pace p
    set refused_at = now(), answers = 0,
      refusals = p.refusals + case when h.known then 0 else 1 end,
      gap_ms = case when h.known then p.gap_ms else h.longer_ms end,
      next_at = greatest(p.next_at, now() + interval '1 millisecond' * greatest(
        ${retryAfterMs}::float8,
        case when not h.known then h.longer_ms end,
        case when not h.known then ${random}::float8
          * least(${PAUSE.capMs}::float8, ${PAUSE.baseMs}::float8 * 2 ^ least(p.refusals, 20)) end
      ))
    from held h
    where p.upstream = ${upstream} and p.egress = ${egress}
    returning h.refusals = 0 as "isFirst"`
  return row?.isFirst ?? false
}

function msUntil(sql: Sql, moment: ReturnType<typeof later>) {
  return sql`extract(epoch from ${moment} - now())::float8 * 1000`
}
