import type { Sql } from "../database/types.ts"
import type { Measure, Measured, Wanted } from "../measure.ts"
import type { Attempt, Outcome } from "../observations/types.ts"
import type { Kind } from "./kind.ts"
import { latestReading } from "./latest-reading.ts"

export interface LiveParts {
  sql: Sql
  kinds: readonly Kind[]
  egress: string
  now: () => Date
  /** Something became due at once: the workers of this process look for it. */
  nudge(): void
  /** A reading of this process has ended, however. */
  onEnded(listener: () => void): void
  /** Between two looks at the database for what other processes read. */
  pollMs?: number
}

/**
 * Live reads. The subject goes to the front of what is due and is read by whichever worker is next; callers of one
 * subject share its reading and, within a process, its waiting. Nothing is asked for whose turn would be more than a
 * minute away.
 */
export function createMeasure(parts: LiveParts): Measure {
  const { sql, kinds, now } = parts
  const ended = wakeable(parts)
  const waits = new Map<string, Promise<Ended>>()
  return async (wanted, { maxAgeMs, waitMs }) => {
    const kind = kinds.find((one) => reads(one, wanted))
    if (!kind) return { state: "failed", why: "off" }
    const since = new Date(now().getTime() - maxAgeMs)
    const held = await latestReading(sql, wanted, since)
    if (held) return { state: "fresh", measuredAt: held }
    const turnMs = await untilTurn(parts, kind, wanted)
    if (turnMs > BUSY_MS) return { state: "failed", why: "busy" }
    const asked = await putFirst(sql, wanted)
    parts.nudge()
    const key = keyOf(wanted)
    const wait = waits.get(key) ?? shared(waits, key, () => end(parts, wanted, { ...asked, since }, ended))
    return await withinPatience(wait, waitMs, {
      state: "pending",
      eta: Math.max(1, Math.ceil((turnMs + READ_MS) / 1_000)),
    })
  }
}

// A queue that long is no live read any more.
const BUSY_MS = 60_000
// What a reading takes once it has its turn.
const READ_MS = 2_000
/** How long this process looks after a reading that nobody waits for any more. */
const WATCHED_MS = 120_000

type Ended = Exclude<Measured, { state: "pending" }> | null

function reads(kind: Kind, { kind: name, platform, storefront }: Wanted): boolean {
  return kind.name === name && kind.platform === platform && (kind.storefronts?.includes(storefront) ?? true)
}

function keyOf({ kind, platform, storefront, subject }: Wanted): string {
  return `${kind} ${platform} ${storefront} ${subject}`
}

/** Milliseconds until it could be this subject's turn: the upstream's, and that of others who wait before it. */
async function untilTurn({ sql, egress }: LiveParts, { upstream }: Kind, wanted: Wanted): Promise<number> {
  const { kind, platform, storefront, subject } = wanted
  const [row] = await sql<{ ms: number }[]>`
    select coalesce(greatest(0, extract(epoch from p.next_at - now()) * 1000), 0)
      + coalesce(p.gap_ms, 0) * (
        select count(*)
        from due d
        where d.class = 0 and d.lease is null and d.next_at <= now() and (d.kind, d.platform) = (${kind}, ${platform})
          and (d.storefront, d.subject) <> (${storefront}, ${subject})
      ) as ms
    from (select 1) one
    left join pace p on (p.upstream, p.egress) = (${upstream}, ${egress})`
  return Number(row?.ms ?? 0)
}

/** Due at once and before all others, unless it is being read. */
async function putFirst(sql: Sql, { kind, platform, storefront, subject }: Wanted): Promise<Asked> {
  const [row] = await sql<Asked[]>`
    with first as (
      insert into due as held (kind, platform, storefront, subject, class, next_at)
      values (${kind}, ${platform}, ${storefront}, ${subject}, 0, now())
      on conflict (kind, platform, storefront, subject) do update
      set class = 0, next_at = least(held.next_at, now())
      where held.lease is null
    )
    select now() as "askedAt", coalesce((select max(id) from attempt), 0) as "lastAttempt"`
  return row!
}

interface Asked {
  /** By the database's clock. */
  askedAt: Date
  lastAttempt: number
}

/** How the reading ended; null when nobody ended it while it was watched. */
async function end(parts: LiveParts, wanted: Wanted, asked: Asked & { since: Date }, ended: Wakeable): Promise<Ended> {
  const { sql, pollMs = 500 } = parts
  const until = performance.now() + WATCHED_MS
  while (performance.now() < until) {
    const woken = ended.next(pollMs)
    // in this order: a reading that was stored meanwhile is none that failed
    const failure = await failureSince(sql, wanted, asked)
    const measuredAt = await latestReading(sql, wanted, asked.since)
    if (measuredAt) return { state: "fresh", measuredAt }
    if (failure) return { state: "failed", why: failure }
    await woken
  }
  return null
}

/**
 * Rows of what nobody tracks go soon after they were read: then the log of failed reads says how. The reading of a page
 * ends with nothing to store where the store is known not to have it.
 */
async function failureSince(sql: Sql, wanted: Wanted, { askedAt, lastAttempt }: Asked): Promise<Outcome | null> {
  const { kind, platform, storefront, subject } = wanted
  const [row] = await sql<{ failure: Outcome | null }[]>`
    select case
        when d.kind is null then coalesce(a.outcome, 'failed')
        when d.failed_at >= ${askedAt} then d.failure
        else 'not_found'
      end as failure
    from (select 1) one
    left join due d on (d.kind, d.platform, d.storefront, d.subject) = (${kind}, ${platform}, ${storefront}, ${subject})
    left join lateral (
      select outcome
      from attempt
      where (kind, platform, storefront, subject) = (${LOGGED_AS[kind]}, ${platform}, ${storefront}, ${subject})
        and id > ${lastAttempt}
      order by id desc
      limit 1
    ) a on true
    where d.kind is null
      or (d.lease is null and (d.failed_at >= ${askedAt} or ${kind === "listing"} and d.measured_at >= ${askedAt}))`
  return row?.failure ?? null
}

/** The kind of a failed read in the log. */
const LOGGED_AS: Record<Wanted["kind"], Attempt["kind"]> = {
  search: "search",
  app: "apps",
  listing: "listing",
  app_ads: "app_ads",
  chart: "chart",
}

function shared(waits: Map<string, Promise<Ended>>, key: string, begin: () => Promise<Ended>): Promise<Ended> {
  const wait = begin().finally(() => waits.delete(key))
  waits.set(key, wait)
  wait.catch(() => {}) // told to those who wait
  return wait
}

async function withinPatience(wait: Promise<Ended>, waitMs: number, pending: Measured): Promise<Measured> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), waitMs)
  try {
    return (await Promise.race([wait, late])) ?? pending
  } finally {
    clearTimeout(timer)
  }
}

interface Wakeable {
  /** Resolves at the next end of a reading here, or after so long. */
  next(ms: number): Promise<void>
}

function wakeable({ onEnded }: LiveParts): Wakeable {
  let { promise, resolve } = Promise.withResolvers<void>()
  onEnded(() => {
    resolve()
    ;({ promise, resolve } = Promise.withResolvers<void>())
  })
  return {
    async next(ms) {
      const { promise: late, resolve: stop } = Promise.withResolvers<void>()
      const timer = setTimeout(stop, ms)
      await Promise.race([promise, late])
      clearTimeout(timer)
    },
  }
}
