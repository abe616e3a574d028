import type { Attempt } from "../core/observation/attempt.ts"
import { ObservationProblem } from "../core/observation/invariants.ts"
import type { Recording } from "../core/recording.ts"
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
import type { Failure, Retry } from "./rescheduling.ts"
import { ReadFailure } from "./source.ts"
import { noteHealth } from "./source-alarms.ts"

type Reading = Run<Claim>

interface ReadingParts extends AskParts {
  recording: Recording
  /** Timeout of a reading, including its waits for turns. */
  readMs: number
  longReadMs: number
  /**
   * Delay between storing a reading and looking for findings, so that readings that are stored shortly after each other
   * are checked together.
   */
  findingsAfterMs: number
  retry: Retry
  broken: Map<string, string>
}

/** How a reading ended. `failure` is null if it was measured. */
export interface PerformedReading {
  subjects: readonly Subject[]
  failure: Failure | null
}

/**
 * Performs a reading. Stores its observations and its end in one transaction, or stores nothing. Returns null if the
 * reading was given back, put off or lost its lease. Rejects only when the database fails.
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

/** Reads a claim. Each failed read is added to `failed`, even if the reading continues without it. */
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
    // an app in both stores may be tracked in a country where one store has no storefront
    const [first, ...rest] = claim.subjects.filter(({ platform, storefront }) => isStorefront(storefront, platform))
    return first ? claim.kind.read([first, ...rest], port) : Promise.resolve([])
  })
}

async function store(
  claim: Claim,
  observations: readonly Observation[],
  failed: readonly Attempt[],
  { sql, recording, now, findingsAfterMs }: ReadingParts,
): Promise<void> {
  const { kind, subjects } = claim
  const end = (tx: Tx) => endMeasured(tx, claim)
  const putForward = async (tx: Tx) => kind.putsForward?.(tx, subjects, findingsAfterMs)
  // rows of `due` are locked in the order of their keys, as in every other transaction
  const last = isLockedBefore(kind.name, "findings") ? [end, putForward] : [putForward, end]
  const finish = async (tx: Tx) => {
    // "not found" counts as measured if the reading continued with it
    for (const attempt of failed) if (attempt.outcome !== "not_found") await log(tx, attempt, recording, now)
    await kind.derive?.(tx, subjects, now())
    for (const step of last) await step(tx)
  }
  await recording.record(sql, observations, now, { finish, all: true })
}

/**
 * Ends a reading that was not measured: gives it back when this process stops, puts it off if there is no turn, else
 * counts a failure.
 */
async function setBack(
  { claim, abort, isEnding }: Reading,
  error: unknown,
  failed: readonly Attempt[],
  parts: ReadingParts,
): Promise<PerformedReading | null> {
  const { sql, recording, now, retry } = parts
  if (error instanceof LeaseLost) return lost(parts, claim)
  const failure = abort.signal.aborted ? null : failureOf(error, failed, isEnding)
  if (failure && !isExpected(error)) tellBroken(error, claim, parts)
  const stood = await sql.begin(async (tx) => {
    for (const attempt of failed) await log(tx, attempt, recording, now)
    if (failure) return await endFailed(tx, claim, { failure, retry, random: parts.random() })
    if (error instanceof NotYet) return await putOff(tx, claim, error.waitMs)
    return await giveBack(tx, claim, error instanceof NoTurn ? error.waitMs : null)
  })
  if (!stood) return lost(parts, claim)
  return failure && { subjects: claim.subjects, failure }
}

async function log(
  tx: Tx,
  attempt: Attempt,
  { checkAttempt, recordAttempt }: Recording,
  now: () => Date,
): Promise<void> {
  try {
    checkAttempt(attempt, now())
  } catch (error) {
    // a kind may ask questions that have no form in the log
    if (error instanceof ObservationProblem) return
    throw error
  }
  await recordAttempt(tx, attempt, now)
}

/**
 * Returns the failure to store. Null if there was no turn or the reading is put off. A broken invariant means that a
 * parser met an unknown shape.
 */
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
  log("error", "reading_failed", { operation, reason, ...(stack !== undefined && { stack }) })
}

function named({ name, platform }: Kind): string {
  return `${name} ${platform}`
}

function lost({ log }: ReadingParts, { kind, subjects }: Claim): null {
  log("warn", "reading_lease_lost", { operation: named(kind), count: subjects.length })
  return null
}

/**
 * Updates the alerts of a source after its canary has ended. The canary's result is stored only in its row of `due`.
 */
async function noteEnd(
  { kind, subjects }: Claim,
  { failure }: PerformedReading,
  { sql, log, broken }: ReadingParts,
): Promise<void> {
  if (failure === null) broken.delete(named(kind))
  if (kind.name !== "canary") return
  for (const { subject } of subjects) await noteHealth(sql, subject as SourceName, log)
}
