import type { Sql } from "../database/types.ts"
import { within } from "../jobs/timers.ts"
import type { Asker, LiveReadState, LiveSubject, Measure, Patience } from "../lib/live-read.ts"
import type { Upstream } from "../lib/upstreams.ts"
import type { Kind, Subject } from "./due-kind.ts"
import { createEndBell, type EndBell, keyOf } from "./end-bell.ts"
import { findFailureSince, findLatestReading } from "./latest-reading.ts"
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
import { NOT_MEASURING, readReaders } from "./readers.ts"
import { readSilence } from "./silence.ts"
import type { CanarySource } from "./source-alarms.ts"

export interface LiveParts {
  sql: Sql
  kinds: readonly Kind[]
  egress: string
  now: () => Date
  /** Their states explain why an upstream is not read. Omit to give no reason. */
  sources?: readonly Pick<CanarySource, "name" | "upstream">[]
  /** Returns true if this process reads the stores. */
  isReading(): boolean
  /** Wakes the workers of this process because work for this upstream has just become due. */
  nudge(upstream: Upstream): void
  /** Adds a listener for readings that end in this process, with whatever result. */
  onEnded(listener: (ended: { subjects: readonly Subject[] }) => void): void
  /** Poll interval for readings of other processes. */
  pollMs?: number
}

/**
 * Creates the function for live reads. Callers of the same subject share one reading and, within a process, the wait
 * for its end. The request of a workspace that has used up its share is read after everything else that is due. A
 * subject whose turn is more than a minute away is refused.
 */
export function createMeasure(parts: LiveParts): Measure {
  const { sql, kinds, now } = parts
  const waits = createWaits()
  const watching: WatchParts = {
    ended: createEndBell(parts.onEnded),
    forgetting: createForgetting(sql),
    measure: (wanted, asker) => measure(wanted, { maxAgeMs: WATCHED_MS, waitMs: 0 }, asker).catch(() => {}),
  }
  const measure: Measure = async (wanted, patience, asker) => {
    const kind = kinds.find((item) => reads(item, wanted))
    if (!kind) return { state: "failed", why: "off" }
    const since = new Date(now().getTime() - patience.maxAgeMs)
    const storedAt = await findLatestReading(sql, { kind, wanted }, since)
    if (storedAt) return { state: "fresh", measuredAt: storedAt }
    const leave = waits.enter(wanted, asker)
    if (!leave) return { state: "failed", why: "busy" }
    try {
      const asking = { kind, wanted, patience, asker, since }
      for (;;) {
        const joined = waits.of(wanted)
        const shared = joined ?? waits.begin(wanted, begin(parts, asking, watching))
        const answer = await waitFor(parts, asking, { ...shared, isOwn: joined === undefined })
        // a refusal of the first caller's `mayBegin` does not apply to callers that joined
        if (joined === undefined || answer.state !== "failed" || answer.why !== "refused") return answer
      }
    } finally {
      leave()
    }
  }
  return measure
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
  measure(wanted: LiveSubject, asker: Asker | undefined): Promise<unknown>
}

interface SharedReading {
  /** The turn, or why there is none. */
  turn: Promise<Turn | Failure>
  /** Resolves once its row of `due` is written. */
  put: Promise<Mark | Failure>
  end: Promise<LiveReadEnd>
  onlyWhileWaiting: boolean
  /** The subjects to read after this one, by key. */
  next: Map<string, { wanted: LiveSubject; asker: Asker | undefined }>
}

type Failure = LiveReadState & { state: "failed" }
type Mark = AskMark & { state: "put" }

interface Turn {
  state: "asked"
  isJoined: boolean
  priority: Ask["priority"]
  ms: number
}

async function waitFor(
  parts: LiveParts,
  asking: LiveAsk,
  shared: SharedReading & { isOwn: boolean },
): Promise<LiveReadState> {
  const { kind, wanted, patience, asker } = asking
  const { waitMs, onlyWhileWaiting } = patience
  const turn = await shared.turn
  if (turn.state === "failed") return turn
  const put = await shared.put
  if (put.state === "failed") return put
  await follow(parts, asking, shared)
  patience.onPut?.(shared.isOwn && put.isNew)
  // the first caller needs the reading only while it waits; this caller needs it in any case, so the row stays due
  if (shared.onlyWhileWaiting && !onlyWhileWaiting)
    await putDue(parts.sql, { wanted, asker, priority: PRIORITY.behind, forMs: WATCHED_MS })
  const pending: LiveReadState = { state: "pending", eta: Math.max(1, Math.ceil((turn.ms + READ_MS) / 1_000)) }
  const ended = await within(waitMs, shared.end)
  if (ended && (ended.state === "fresh" || !FAILURES.has(ended.why))) return ended
  const silence = await findSilence(parts, kind.upstream)
  if (ended) return silence ? ({ ...ended, because: silence.sentence } as Failure) : ended
  return silence?.isLasting ? { state: "failed", why: "failed", because: silence.sentence } : pending
}

const FAILURES: ReadonlySet<string> = new Set(["blocked", "rate_limited", "changed", "failed"])

async function findSilence({ sql, sources = [], now }: LiveParts, upstream: Upstream) {
  const names = sources.filter((source) => source.upstream === upstream).map(({ name }) => name)
  return names.length === 0 ? null : await readSilence(sql, { upstream, names, now: now() })
}

/** Schedules the next subject, so that others can join it. Its turn comes once this one was read. */
async function follow({ sql }: LiveParts, { patience: { next }, asker }: LiveAsk, { next: named }: SharedReading) {
  if (!next || named.has(keyOf(next))) return
  named.set(keyOf(next), { wanted: next, asker })
  await putDue(sql, { wanted: next, asker, priority: PRIORITY.live, forMs: WATCHED_MS, afterMs: WATCHED_MS })
}

function begin(parts: LiveParts, asking: LiveAsk, watching: WatchParts): SharedReading {
  const { kind, wanted, asker, since, patience } = asking
  const { waitMs, onlyWhileWaiting = false } = patience
  const next: SharedReading["next"] = new Map()
  const forMs = onlyWhileWaiting ? waitMs : WATCHED_MS
  const turn = turnOf(parts, asking)
  const put = turn.then(async (turn): Promise<Mark | Failure> => {
    if (turn.state === "failed") return turn
    if (!turn.isJoined && (await patience.mayBegin?.()) === false) return { state: "failed", why: "refused" }
    const mark = await putDue(parts.sql, { wanted, asker, priority: turn.priority, forMs })
    parts.nudge(kind.upstream)
    return { ...mark, state: "put" }
  })
  const end = put.then(async (put) => {
    if (put.state === "failed") return put
    const ended = await watch(parts, { kind, wanted }, { ...put, since, forMs }, watching)
    // nobody waits for these readings: they continue after the caller has its answer
    if (ended?.state === "fresh") for (const { wanted, asker } of next.values()) void watching.measure(wanted, asker)
    return ended
  })
  return { turn, put, end, onlyWhileWaiting, next }
}

// A live read whose turn is further away is refused as busy.
const BUSY_MS = 60_000
const READ_MS = 2_000
/** How long this process watches a reading for which nobody waits any more. */
const WATCHED_MS = 120_000
const MAX_PENDING = 20

type LiveReadEnd = Exclude<LiveReadState, { state: "pending" }> | null

function reads(kind: Kind, { kind: name, platform, storefront }: LiveSubject): boolean {
  return kind.name === name && kind.platform === platform && (kind.storefronts?.includes(storefront) ?? true)
}

/** Returns why no process reads it. Null if one does, even if the store refuses it at the moment. */
async function findWhyUnread({ sql, isReading }: LiveParts, place: LiveSubject): Promise<string | null> {
  if (isReading()) return null
  const reading = await readReaders(sql)
  const why = reading(place)
  if (why === null || why === "source_refuses") return null
  return why === "no_worker" ? `${NOT_MEASURING[why]} ${START_ONE}` : NOT_MEASURING[why]
}

const START_ONE = "(its operator starts the server with MEASURE=yes, or runs appmeter work)"

/** Returns the subject's priority and the milliseconds until its turn, or "busy" if that is too long to wait. */
async function turnOf(parts: LiveParts, { kind, wanted, asker }: LiveAsk): Promise<Awaited<SharedReading["turn"]>> {
  const { sql, kinds, egress } = parts
  const busy = { state: "failed", why: "busy" } as const
  const because = await findWhyUnread(parts, wanted)
  if (because) return { state: "failed", why: "off", because }
  const ahead = await readAhead(sql, { kind, kinds, egress, wanted, asker })
  const { isJoined } = ahead
  const first = { state: "asked", priority: PRIORITY.live, ms: ahead.turnMs, isJoined } as const
  if (ahead.turnMs > BUSY_MS) return busy
  if (isJoined) return { ...first, priority: PRIORITY.behind }
  if (!asker) return first
  if (ahead.pendingRequests >= MAX_PENDING) return busy
  if (await takeShare(sql, kind, egress, asker)) return first
  const ms = ahead.turnMs + ahead.dueMs
  return ms > BUSY_MS ? busy : { state: "asked", priority: PRIORITY.behind, ms, isJoined }
}

/** Waits for the end of a reading. Null if none was seen in time. */
async function watch(
  parts: LiveParts,
  reading: Pick<LiveAsk, "kind" | "wanted">,
  request: AskMark & { since: Date; forMs: number },
  { ended, forgetting }: WatchParts,
): Promise<LiveReadEnd> {
  const { sql, pollMs = 500 } = parts
  const { wanted } = reading
  const until = performance.now() + request.forMs
  try {
    for (let look = 0; performance.now() < until; look++) {
      const leftMs = Math.max(1, until - performance.now())
      const woken = ended.next(wanted, Math.min(leftMs, pollMs * Math.min(LONGEST_POLLS, 1 + look / 4)))
      // this order matters: a reading stored in between must not count as failed
      const failure = await findFailureSince(sql, reading, request)
      const measuredAt = await findLatestReading(sql, reading, request.since)
      if (measuredAt) return { state: "fresh", measuredAt }
      if (failure) return { state: "failed", why: failure }
      await woken
    }
    return null
  } finally {
    forgetting.add(wanted)
  }
}

/** Polls grow further apart. A reading of this process needs no poll: it wakes the caller. */
const LONGEST_POLLS = 6

interface WaitRegister {
  /**
   * Counts a subject as requested in this process until the returned function is called. Null if the workspace already
   * has too many requests.
   */
  enter(wanted: LiveSubject, asker: Asker | undefined): (() => void) | null
  of(wanted: LiveSubject): SharedReading | undefined
  /** Registers a reading that callers share until it ends. */
  begin(wanted: LiveSubject, shared: SharedReading): SharedReading
}

function createWaits(): WaitRegister {
  const waits = new Map<string, SharedReading>()
  const keysByWorkspace = new Map<number, string[]>()
  return {
    enter(wanted, asker) {
      if (!asker) return () => {}
      const key = keyOf(wanted)
      const keys = keysByWorkspace.get(asker.workspaceId) ?? []
      if (new Set([...keys, key]).size > MAX_PENDING) return null
      keysByWorkspace.set(asker.workspaceId, keys)
      keys.push(key)
      return () => {
        keys.splice(keys.indexOf(key), 1)
        if (keys.length === 0) keysByWorkspace.delete(asker.workspaceId)
      }
    },
    of: (wanted) => waits.get(keyOf(wanted)),
    begin(wanted, shared) {
      const key = keyOf(wanted)
      const ended = () => void waits.delete(key)
      waits.set(key, shared)
      shared.end.then(ended, ended) // callers that wait for `shared.end` get its failure themselves
      return shared
    },
  }
}
