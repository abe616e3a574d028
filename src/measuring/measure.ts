import type { Sql } from "../database/types.ts"
import { NOT_MEASURING, readReaders } from "../history/readers.ts"
import { within } from "../leases/timers.ts"
import type { Attempt, Outcome } from "../observations/types.ts"
import type { Asker, LiveReadState, LiveSubject, Measure, Patience } from "../vocabulary/live-read.ts"
import type { Kind, Subject } from "./kind.ts"
import { findLatestReading } from "./latest-reading.ts"
import {
  type Ask,
  type AskMark,
  createForgetting,
  type ForgetQueue,
  putDue,
  readAhead,
  takeShare,
} from "./live-asks.ts"
import { PRIORITY } from "./priority.ts"

export interface LiveParts {
  sql: Sql
  kinds: readonly Kind[]
  egress: string
  now: () => Date
  /** This process reads the stores. */
  isReading(): boolean
  /** Something became due at once: the workers of this process look for it. */
  nudge(): void
  /** A reading of this process has ended, however. */
  onEnded(listener: (ended: { subjects: readonly Subject[] }) => void): void
  /** Between two looks at the database for what other processes read. */
  pollMs?: number
}

/**
 * Callers of one subject share its reading and, within a process, its waiting. A workspace beyond its share of turns
 * waits behind all that is due. Nothing is asked whose turn is over a minute away.
 */
export function createMeasure(parts: LiveParts): Measure {
  const { sql, kinds, now } = parts
  const waits = createWaits()
  const watching = { ended: wakeable(parts), forgetting: createForgetting(sql) }
  return async (wanted, patience, asker) => {
    const kind = kinds.find((one) => reads(one, wanted))
    if (!kind) return { state: "failed", why: "off" }
    const since = new Date(now().getTime() - patience.maxAgeMs)
    const held = await findLatestReading(sql, wanted, since)
    if (held) return { state: "fresh", measuredAt: held }
    const leave = waits.enter(wanted, asker)
    if (!leave) return { state: "failed", why: "busy" }
    try {
      const asking = { kind, wanted, patience, asker, since }
      return await waitFor(parts, asking, waits.of(wanted) ?? waits.begin(wanted, begin(parts, asking, watching)))
    } finally {
      leave()
    }
  }
}

interface LiveAsk {
  kind: Kind
  wanted: LiveSubject
  patience: Patience
  asker: Asker | undefined
  since: Date
}

interface WatchParts {
  ended: EndBell
  forgetting: ForgetQueue
}

interface SharedReading {
  /** Its turn, or why there is none. */
  turn: Promise<Turn | (LiveReadState & { state: "failed" })>
  end: Promise<LiveReadEnd>
  onlyWhileWaiting: boolean
}

interface Turn {
  state: "asked"
  priority: Ask["priority"]
  ms: number
}

async function waitFor(
  { sql }: LiveParts,
  { wanted, patience, asker }: LiveAsk,
  shared: SharedReading,
): Promise<LiveReadState> {
  const { waitMs, onlyWhileWaiting } = patience
  const turn = await shared.turn
  if (turn.state === "failed") return turn
  // who joins what is of use to others only while they wait
  if (shared.onlyWhileWaiting && !onlyWhileWaiting)
    await putDue(sql, { wanted, asker, priority: PRIORITY.behind, forMs: WATCHED_MS })
  const pending: LiveReadState = { state: "pending", eta: Math.max(1, Math.ceil((turn.ms + READ_MS) / 1_000)) }
  return (await within(waitMs, shared.end)) ?? pending
}

function begin(parts: LiveParts, asking: LiveAsk, watching: WatchParts): SharedReading {
  const { wanted, asker, since, patience } = asking
  const { waitMs, onlyWhileWaiting = false } = patience
  const turn = turnOf(parts, asking)
  const end = turn.then(async (turn) => {
    if (turn.state === "failed") return turn
    const forMs = onlyWhileWaiting ? waitMs : WATCHED_MS
    const asked = await putDue(parts.sql, { wanted, asker, priority: turn.priority, forMs })
    parts.nudge()
    return await watch(parts, wanted, { ...asked, since, forMs }, watching)
  })
  return { turn, end, onlyWhileWaiting }
}

// A queue that long is no live read any more.
const BUSY_MS = 60_000
const READ_MS = 2_000
/** How long this process looks after a reading that nobody waits for any more. */
const WATCHED_MS = 120_000
const MOST_ASKED = 20

type LiveReadEnd = Exclude<LiveReadState, { state: "pending" }> | null

function reads(kind: Kind, { kind: name, platform, storefront }: LiveSubject): boolean {
  return kind.name === name && kind.platform === platform && (kind.storefronts?.includes(storefront) ?? true)
}

/** Why no process reads it; null where one does, even if the store refuses it just now. */
async function findWhyUnread({ sql, isReading }: LiveParts, place: LiveSubject): Promise<string | null> {
  if (isReading()) return null
  const reading = await readReaders(sql)
  const why = reading(place)
  return why === null || why === "source_refuses" ? null : NOT_MEASURING[why]
}

/** Where it stands in the order of what is due, and milliseconds until its turn; busy = too far away to wait for. */
async function turnOf(parts: LiveParts, { kind, wanted, asker }: LiveAsk): Promise<Awaited<SharedReading["turn"]>> {
  const { sql, kinds, egress } = parts
  const busy = { state: "failed", why: "busy" } as const
  const because = await findWhyUnread(parts, wanted)
  if (because) return { state: "failed", why: "off", because }
  const ahead = await readAhead(sql, { kind, kinds, egress, wanted, asker })
  const first = { state: "asked", priority: PRIORITY.live, ms: ahead.turnMs } as const
  if (ahead.turnMs > BUSY_MS) return busy
  if (ahead.isJoined) return { ...first, priority: PRIORITY.behind }
  if (!asker) return first
  if (ahead.asked >= MOST_ASKED) return busy
  if (await takeShare(sql, kind, egress, asker)) return first
  const ms = ahead.turnMs + ahead.dueMs
  return ms > BUSY_MS ? busy : { state: "asked", priority: PRIORITY.behind, ms }
}

/** Null when no end was seen in time. */
async function watch(
  parts: LiveParts,
  wanted: LiveSubject,
  asked: AskMark & { since: Date; forMs: number },
  { ended, forgetting }: WatchParts,
): Promise<LiveReadEnd> {
  const { sql, pollMs = 500 } = parts
  const until = performance.now() + asked.forMs
  try {
    for (let look = 0; performance.now() < until; look++) {
      const leftMs = Math.max(1, until - performance.now())
      const woken = ended.next(wanted, Math.min(leftMs, pollMs * Math.min(LONGEST_POLLS, 1 + look / 4)))
      // in this order: a reading that was stored meanwhile is none that failed
      const failure = await findFailureSince(sql, wanted, asked)
      const measuredAt = await findLatestReading(sql, wanted, asked.since)
      if (measuredAt) return { state: "fresh", measuredAt }
      if (failure) return { state: "failed", why: failure }
      await woken
    }
    return null
  } finally {
    forgetting.add(wanted)
  }
}

/** Polls further apart the longer it takes: a reading of this process wakes at once. */
const LONGEST_POLLS = 6

/** Rows that nobody tracks go soon after they were read: then the log of failed reads says how. */
async function findFailureSince(
  sql: Sql,
  wanted: LiveSubject,
  { askedAt, lastAttempt }: AskMark,
): Promise<Outcome | null> {
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
      or (d.lease is null and (d.failed_at >= ${askedAt} or ${MAY_BE_NOTHING.includes(kind)} and d.measured_at >= ${askedAt}))`
  return row?.failure ?? null
}

const LOGGED_AS: Record<LiveSubject["kind"], Attempt["kind"]> = {
  search: "search",
  app: "apps",
  listing: "listing",
  app_ads: "app_ads",
  chart: "chart",
  chart_apps: "apps",
  reviews: "reviews",
  developer: "developer",
  hints: "hints",
  difficulty: "apps",
  // which has no form there
  app_names: "apps",
}

/** Whose readings may end with nothing: the store is known not to have it, or what it says of ten apps gives no figure. */
const MAY_BE_NOTHING: readonly LiveSubject["kind"][] = ["listing", "reviews", "developer", "difficulty", "chart_apps"]

interface WaitRegister {
  /** Counts a subject that somebody here asks for, until the call's end; null where its workspace asks for too many. */
  enter(wanted: LiveSubject, asker: Asker | undefined): (() => void) | null
  of(wanted: LiveSubject): SharedReading | undefined
  /** Shared by all callers until it ends. */
  begin(wanted: LiveSubject, shared: SharedReading): SharedReading
}

function createWaits(): WaitRegister {
  const waits = new Map<string, SharedReading>()
  const asked = new Map<number, string[]>()
  return {
    enter(wanted, asker) {
      if (!asker) return () => {}
      const key = keyOf(wanted)
      const keys = asked.get(asker.workspaceId) ?? []
      if (new Set([...keys, key]).size > MOST_ASKED) return null
      asked.set(asker.workspaceId, keys)
      keys.push(key)
      return () => {
        keys.splice(keys.indexOf(key), 1)
        if (keys.length === 0) asked.delete(asker.workspaceId)
      }
    },
    of: (wanted) => waits.get(keyOf(wanted)),
    begin(wanted, shared) {
      const key = keyOf(wanted)
      const ended = () => void waits.delete(key)
      waits.set(key, shared)
      shared.end.then(ended, ended) // its failure is told to those who wait
      return shared
    },
  }
}

function keyOf({ kind, platform, storefront, subject }: Subject): string {
  return `${kind} ${platform} ${storefront} ${subject}`
}

interface EndBell {
  /** Resolves at the next end of a reading of it here, or after so long. */
  next(wanted: LiveSubject, ms: number): Promise<void>
}

function wakeable({ onEnded }: LiveParts): EndBell {
  const sleepers = new Map<string, Set<() => void>>()
  onEnded(({ subjects }) => {
    for (const subject of subjects) for (const wake of sleepers.get(keyOf(subject)) ?? []) wake()
  })
  return {
    next(wanted, ms) {
      const key = keyOf(wanted)
      const { promise, resolve } = Promise.withResolvers<void>()
      const own = sleepers.get(key) ?? new Set()
      sleepers.set(key, own.add(resolve))
      return within(ms, promise).finally(() => {
        own.delete(resolve)
        if (own.size === 0) sleepers.delete(key)
      })
    },
  }
}
