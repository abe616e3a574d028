import { setTimeout as sleep } from "node:timers/promises"
import type { Context } from "../../../core/operation.ts"
import { Fault } from "../../../lib/faults.ts"
import type { LiveReadState, LiveSubject, Patience } from "../../../lib/live-read.ts"
import { valueAt } from "../../../lib/objects.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { findKeywordsUnderWay } from "../../../measuring/under-way.ts"
import { FRESH_DAYS } from "../metric-shapes.ts"
import type { AppStoreTerm } from "./read-term.ts"

export const METRICS = ["popularity", "difficulty"] as const
export type Metric = (typeof METRICS)[number]

/** Why a requested metric has no figure. */
export type ReadProblem = "off" | "failed" | "unstored" | "deferred" | "not_started"

export interface KeywordReading {
  /** True if this call started the reading, which uses a unit of the daily measurements. */
  started: boolean
  /**
   * State of each requested metric: still pending, the reason why its inputs were not read, or null if they were read.
   */
  ends: Partial<Record<Metric, "pending" | ReadProblem | null>>
}

/**
 * Reads a keyword's results, the ratings of its first ten apps and, for the popularity, the store's suggestions. Skips
 * readings that are fresh. The work continues in the background if it takes longer than the wait. Throws
 * daily_hive_limit if this call needs to start the work and the daily units are used up, and
 * hive_measurement_queue_failed if the work cannot be queued.
 */
export async function readKeyword(
  ctx: Context,
  { platform, storefront, term }: AppStoreTerm,
  { metrics, waitMs }: { metrics: readonly Metric[]; waitMs: number },
): Promise<KeywordReading> {
  const parts = openParts(ctx, { platform, storefront, subject: term }, waitMs)
  const search = await parts.beginResults()
  const suggested = metrics.includes("popularity") ? await parts.begin("hints") : null
  const [results, suggestions] = await settled([search.end, suggested?.end])
  const isStarted = await parts.settle()
  const states = { popularity: [suggestions, results], difficulty: [results] }
  const ends: KeywordReading["ends"] = {}
  for (const metric of metrics) ends[metric] = endOf(states[metric])
  if (Object.values(ends).includes("pending")) await noteNotStarted(ctx, { platform, storefront, term }, ends)
  return { started: isStarted, ends }
}

type PartKind = "search" | "hints" | "difficulty"

/**
 * The first part that is not fresh starts the work of a keyword or joins running work. A call that joins one part joins
 * all parts; a call that starts the work uses a unit.
 */
function openParts(ctx: Context, side: Omit<LiveSubject, "kind">, waitMs: number) {
  const until = performance.now() + waitMs
  /** True if this call started the work, false if it joined running work. Null before either. */
  let isNew: boolean | null = null
  let spent: Fault | undefined
  const mayBegin = async () => {
    if (isNew !== null) return true
    const { granted, limit, used, resetsAt } = await ctx.takeMeasurement()
    const retryAfter = Math.max(1, Math.ceil((Date.parse(resetsAt) - ctx.now().getTime()) / 1_000))
    if (!granted) spent = new Fault("daily_hive_limit", { limit, used, resetsAt }, { retryAfter })
    return granted
  }
  const begin = async (kind: PartKind) => {
    const entered = Promise.withResolvers<boolean | null>()
    const next = kind === "search" ? { next: { kind: "difficulty" as const, ...side } } : {}
    const patience = { waitMs: Math.max(0, until - performance.now()), mayBegin, onPut: entered.resolve, ...next }
    const end = put(ctx, { kind, ...side }, patience)
    end.then(
      () => entered.resolve(null),
      () => entered.resolve(null),
    )
    const how = await entered.promise
    isNew ??= how
    return { end }
  }
  // the apps whose ratings are needed are known only from the results
  const beginResults = async () => {
    const search = await begin("search")
    if (isNew === null) return (await search.end).state === "fresh" ? await begin("difficulty") : search
    const rated = async (state: LiveReadState) => (state.state === "fresh" ? (await begin("difficulty")).end : state)
    return { end: search.end.then(rated) }
  }
  const settle = async () => {
    if (!isNew) await ctx.returnMeasurement()
    if (spent) throw spent
    return isNew ?? false
  }
  return { begin, beginResults, settle }
}

async function put(ctx: Context, wanted: LiveSubject, patience: Omit<Patience, "maxAgeMs">): Promise<LiveReadState> {
  try {
    return await ctx.measure(wanted, { maxAgeMs: FRESH_DAYS * DAY_MS, ...patience })
  } catch (cause) {
    throw Object.assign(new Fault("hive_measurement_queue_failed"), { cause })
  }
}

/** Waits for both readings before it throws, so that neither of them continues unnoticed after the call has ended. */
async function settled(
  readings: readonly (Promise<LiveReadState> | undefined)[],
): Promise<(LiveReadState | undefined)[]> {
  const ended = await Promise.allSettled(readings)
  for (const result of ended) if (result.status === "rejected") throw result.reason
  return ended.map((item) => (item.status === "fulfilled" ? item.value : undefined))
}

function endOf(states: readonly (LiveReadState | undefined)[]): "pending" | ReadProblem | null {
  const problems = states.flatMap((state) => (state ? (problemOf(state) ?? []) : []))
  return PRECEDENCE.find((item) => problems.includes(item)) ?? null
}

const PRECEDENCE = ["pending", "unstored", "failed", "deferred", "off", "not_started"] as const

function problemOf(state: LiveReadState): "pending" | ReadProblem | null {
  if (state.state === "fresh") return null
  if (state.state === "pending") return "pending"
  const { why } = state
  // ten apps for which a look-up found nothing count as read
  if (why === "not_found") return null
  if (why === "off" || why === "unstored") return why
  if (why === "gone") return "not_started"
  return why === "busy" || why === "rate_limited" || why === "blocked" ? "deferred" : "failed"
}

/** Delay between the end of one reading and the queue row of the next. */
const BETWEEN_MS = 300

/**
 * Marks a pending metric as not started if the queue has no row for it. Checks twice, because a row may be about to
 * appear.
 */
async function noteNotStarted(ctx: Context, list: AppStoreTerm, ends: KeywordReading["ends"]): Promise<void> {
  const { term, ...side } = list
  const findUnscheduled = async () => {
    const found = valueAt(await findKeywordsUnderWay(ctx.sql, { ...side, terms: [term] }), term)
    return METRICS.filter((metric) => ends[metric] === "pending" && found[`${metric}NotMeasuring`] === "not_scheduled")
  }
  if ((await findUnscheduled()).length === 0) return
  await sleep(BETWEEN_MS)
  for (const metric of await findUnscheduled()) ends[metric] = "not_started"
}
