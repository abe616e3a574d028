import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../../database/types.ts"
import { within } from "../../leases/timers.ts"
import type { Log } from "../../log.ts"
import { dayOf, nextMidnight } from "../../vocabulary/days.ts"
import type { Write, WritingState, WritingTask } from "../../vocabulary/writing/written-text.ts"
import type { WriterSettings } from "../providers/ask.ts"
import {
  addTokens, claimText, countTokens, extendLease, forgetFailure, LEASE_MS, readText, storeFailure, storeText,
} from "./stored-texts.ts" // biome-ignore format: one list
import { createTurns } from "./turns.ts"
import { type WritingResult, writeOnce } from "./write-once.ts"

export interface WritingParts {
  sql: Sql
  log: Log
  /** Null = no writer: what is stored is found all the same. */
  settings: WriterSettings | null
  now: () => Date
  randomBytes: (size: number) => Uint8Array
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Between two looks at the database for what another process writes. */
  pollMs?: number
  /** The longest that a text may take, whoever waits for it. */
  mostMs?: number
  patienceMs?: number
}

export interface TextWriter {
  write: Write
  /** Aborts what is under way: others may write it. */
  stop(): Promise<void>
}

const MOST_MS = 300_000

/** Texts are written once for all who ask, in whichever process, and stored even when nobody waits any more. */
export function createWriting(parts: WritingParts): TextWriter {
  const { sql, settings, pollMs = 500 } = parts
  const stopping = new AbortController()
  const underWay = new Map<string, Promise<WritingState<unknown>>>()
  const turns = createTurns(settings?.atOnce ?? 1)

  const begin = (task: WritingTask<unknown>): Promise<WritingState<unknown>> => {
    const key = `${task.kind} ${task.digest}`
    const known = underWay.get(key)
    if (known) return known
    const work = writeOrWatch(parts, task, { turns, pollMs, signal: stopping.signal })
    underWay.set(key, work)
    const ended = () => void underWay.delete(key)
    work.then(ended, ended) // its failure is told to those who wait
    return work
  }
  const write = async (task: WritingTask<unknown>, waitMs: number): Promise<WritingState<unknown>> => {
    const stored = await readText(sql, task)
    if (stored?.state === "done") return stored
    if (!settings) return { state: "failed", why: "off" }
    return (await within(waitMs, begin(task))) ?? { state: "pending" }
  }
  const find = async (task: Pick<WritingTask<unknown>, "kind" | "digest">): Promise<WritingState<unknown> | null> => {
    const stored = await readText(sql, task)
    if (stored?.state === "failed") await forgetFailure(sql, task)
    return stored
  }
  return {
    write: Object.assign(write, { isOn: settings !== null, find }) as Write,
    async stop() {
      stopping.abort()
      await Promise.allSettled(underWay.values())
    },
  }
}

interface WritingWork {
  turns: ReturnType<typeof createTurns>
  pollMs: number
  signal: AbortSignal
}

/** Writes it here, or waits for the process that does. */
async function writeOrWatch(
  parts: WritingParts,
  task: WritingTask<unknown>,
  work: WritingWork,
): Promise<WritingState<unknown>> {
  for (;;) {
    const lease = await claimText(parts.sql, task)
    if (lease !== null) return await writeUnder(lease, parts, task, work)
    const stored = await readText(parts.sql, task)
    if (stored && stored.state !== "pending") return stored
    await sleep(work.pollMs, undefined, { signal: work.signal })
  }
}

async function writeUnder(
  lease: string,
  parts: WritingParts,
  task: WritingTask<unknown>,
  { turns, signal }: WritingWork,
): Promise<WritingState<unknown>> {
  const { sql, log, mostMs = MOST_MS, now } = parts
  const lost = new AbortController()
  const ended = AbortSignal.any([signal, lost.signal, AbortSignal.timeout(mostMs)])
  const beats = setInterval(() => void keep(sql, lease, lost), LEASE_MS / 3)
  try {
    const result = await turns.take(ended, () => writeOnce(task, runOf(parts, task, ended)))
    if (!result.done) {
      await storeFailure(sql, lease, result)
      return failed(result, now())
    }
    await storeText(sql, lease, result)
    return (await readText(sql, task)) ?? { state: "failed", why: "unusable" }
  } catch (error) {
    const isStop = ended.aborted
    log(isStop ? "info" : "warn", "writing_ended", { operation: task.kind, reason: (error as Error).name })
    await storeFailure(sql, lease, { why: isStop ? null : "unusable" })
    if (isStop) return { state: "failed", why: "unusable" }
    throw error
  } finally {
    clearInterval(beats)
  }
}

/** A heartbeat that fails may be followed by one that does not: the lease lasts three of them. */
async function keep(sql: Sql, lease: string, lost: AbortController): Promise<void> {
  const stands = await extendLease(sql, lease).catch(() => true)
  if (!stands) lost.abort()
}

function failed(result: Extract<WritingResult, { done: false }>, now: Date): WritingState<unknown> {
  const { why } = result
  if (why === "spent") return { state: "failed", why, retryAfter: secondsTo(nextMidnight(now), now) }
  return { state: "failed", why, ...(result.retryAfter !== undefined && { retryAfter: result.retryAfter }) }
}

function secondsTo(moment: string, now: Date): number {
  return Math.max(1, Math.ceil((Date.parse(moment) - now.getTime()) / 1_000))
}

function runOf(
  { sql, log, settings, now, randomBytes, fetch, patienceMs }: WritingParts,
  { kind }: WritingTask<unknown>,
  signal: AbortSignal,
) {
  const today = () => dayOf(now())
  return {
    settings: settings as WriterSettings,
    fetch,
    now,
    signal,
    ...(patienceMs !== undefined && { patienceMs }),
    nonce: () => [...randomBytes(6)].map((byte) => String.fromCharCode(97 + (byte % 26))).join(""),
    async hasTokens() {
      const { input, output } = await countTokens(sql, today())
      return input + output < (settings as WriterSettings).tokensADay
    },
    used: (usage: { input: number; output: number }) => addTokens(sql, today(), usage),
    failed: (why: { status?: number; code?: string }) => log("warn", "writing_failed", { operation: kind, ...why }),
  }
}
