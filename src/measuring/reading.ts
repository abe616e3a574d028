import type { Attempt } from "../core/observation/attempt.ts"
import { isConnectionProblem } from "../database/gate.ts"
import type { Tx } from "../database/types.ts"
import { limited, TooLate } from "../jobs/timers.ts"
import type { Run } from "../jobs/worker.ts"
import type { Observation } from "../kinds.ts"
import { isStorefront } from "../lib/storefronts.ts"
import type { SourceName } from "../lib/upstreams.ts"
import { type AskParts, openPort } from "./ask.ts"
import { type Claim, endFailed, endMeasured, giveBack, LeaseLost, putOff } from "./due.ts"
import { isLockedBefore, type Kind, NotYet, type Subject } from "./due-kind.ts"
import { NoTurn } from "./pace.ts"
import { recordAttempt } from "./record/attempts.ts"
import { checkAttempt, ObservationProblem } from "./record/check.ts"
import { record } from "./record/record.ts"
import type { Failure, Retry } from "./rescheduling.ts"
import { ReadFailure } from "./source.ts"
import { noteHealth } from "./source-alarms.ts"

type Reading = Run<Claim>

interface ReadingParts extends AskParts {
  /** The longest that a reading may take, its waits for turns included. */
  readMs: number
  longReadMs: number
  /** From what was stored to what is found in it, so that what comes together is looked at once. */
  findingsAfterMs: number
  retry: Retry
  broken: Map<string, string>
}

/** How a reading ended; `failure` null = measured. */
export interface PerformedReading {
  subjects: readonly Subject[]
  failure: Failure | null
}

/**
 * Stores all that it gave together with its end, or nothing. Null when it was given back, put off or lost. Rejects only
 * when the database fails.
 */
export async function performReading(run: Reading, parts: ReadingParts): Promise<PerformedReading | null> {
  const failed: Attempt[] = []
  let ended: PerformedReading | null
  try {
    const observations = await read(run, failed, parts)
    run.isEnding = true
    await store(run.claim, observations, failed, parts)
    ended = { subjects: run.claim.subjects, failure: null }
  } catch (error) {
    ended = await setBack(run, error, failed, parts)
  }
  if (ended) await noteEnd(run.claim, ended, parts)
  return ended
}

/** Each read that gave nothing is added to `failed`, also when the reading went on without it. */
async function read(
  { claim, abort, sinceClaim }: Reading,
  failed: Attempt[],
  parts: ReadingParts,
): Promise<Observation[]> {
  const began = performance.now()
  const readMs = claim.kind.isLong ? parts.longReadMs : parts.readMs
  const leftMs = () => readMs - (performance.now() - began)
  return await limited(readMs, abort, (signal) => {
    const port = openPort(parts, { claim, signal, leftMs, sinceClaim }, (attempt) => failed.push(attempt))
    // an app of both stores may be tracked where one of them has no storefront
    const [first, ...others] = claim.subjects.filter(({ platform, storefront }) => isStorefront(storefront, platform))
    return first ? claim.kind.read([first, ...others], port) : Promise.resolve([])
  })
}

async function store(
  claim: Claim,
  observations: readonly Observation[],
  failed: readonly Attempt[],
  { sql, now, findingsAfterMs }: ReadingParts,
): Promise<void> {
  const { kind, subjects } = claim
  const end = (tx: Tx) => endMeasured(tx, claim)
  const putForward = async (tx: Tx) => kind.putsForward?.(tx, subjects, findingsAfterMs)
  // rows of `due` are locked in the order of their keys, as by whoever tracks something
  const last = isLockedBefore(kind.name, "findings") ? [end, putForward] : [putForward, end]
  const finish = async (tx: Tx) => {
    // what a store does not have was measured, if the reading went on with it
    for (const attempt of failed) if (attempt.outcome !== "not_found") await log(tx, attempt, now)
    await kind.derive?.(tx, subjects, now())
    for (const step of last) await step(tx)
  }
  await record(sql, observations, now, { finish, all: true })
}

/** What was not measured: given back when this process stops, put off while there is no turn, or else failed. */
async function setBack(
  { claim, abort, isEnding }: Reading,
  error: unknown,
  failed: readonly Attempt[],
  parts: ReadingParts,
): Promise<PerformedReading | null> {
  const { sql, now, retry } = parts
  if (error instanceof LeaseLost) return lost(parts, claim)
  const failure = abort.signal.aborted ? null : failureOf(error, failed, isEnding)
  if (failure && !isExpected(error)) tellBroken(error, claim, parts)
  const stood = await sql.begin(async (tx) => {
    for (const attempt of failed) await log(tx, attempt, now)
    if (failure) return await endFailed(tx, claim, { failure, retry, random: parts.random() })
    if (error instanceof NotYet) return await putOff(tx, claim, error.waitMs)
    return await giveBack(tx, claim, error instanceof NoTurn ? error.waitMs : null)
  })
  if (!stood) return lost(parts, claim)
  return failure && { subjects: claim.subjects, failure }
}

async function log(tx: Tx, attempt: Attempt, now: () => Date): Promise<void> {
  try {
    checkAttempt(attempt, now())
  } catch (error) {
    // a kind may ask for what has no form in the log
    if (error instanceof ObservationProblem) return
    throw error
  }
  await recordAttempt(tx, attempt, now)
}

/** Null without a turn, or without anything to read by. A broken invariant means that a parser met something new. */
function failureOf(error: unknown, failed: readonly Attempt[], wasRead: boolean): Failure | null {
  if (error instanceof NotYet) return null
  if (error instanceof NoTurn) return failed.at(-1)?.outcome ?? null
  if (error instanceof ReadFailure) return error.outcome
  if (error instanceof ObservationProblem) return "changed"
  return wasRead ? "unstored" : "failed"
}

function isExpected(error: unknown): boolean {
  return [ReadFailure, NoTurn, TooLate].some((kind) => error instanceof kind) || isConnectionProblem(error)
}

function tellBroken(error: unknown, { kind }: Claim, { log, broken }: ReadingParts): void {
  const { message: reason, stack } = error instanceof Error ? error : new Error(String(error))
  const operation = named(kind)
  if (broken.get(operation) === reason) return
  broken.set(operation, reason)
  log("error", "reading_broken", { operation, reason, ...(stack !== undefined && { stack }) })
}

function named({ name, platform }: Kind): string {
  return `${name} ${platform}`
}

function lost({ log }: ReadingParts, { kind, subjects }: Claim): null {
  log("warn", "reading_lease_lost", { operation: named(kind), count: subjects.length })
  return null
}

/** What a canary says of its source stands in its row alone. */
async function noteEnd(
  { kind, subjects }: Claim,
  { failure }: PerformedReading,
  { sql, log, broken }: ReadingParts,
): Promise<void> {
  if (failure === null) broken.delete(named(kind))
  if (kind.name !== "canary") return
  for (const { subject } of subjects) await noteHealth(sql, subject as SourceName, log)
}
