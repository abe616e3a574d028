import { setTimeout as sleep } from "node:timers/promises"
import { type AnyKind, kindNamed } from "../../core/kind.ts"
import type { Attempt } from "../../core/observation/attempt.ts"
import { ObservationProblem } from "../../core/observation/invariants.ts"
import type { Recording, RecordOptions } from "../../core/recording.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { Observation } from "../../kinds.ts"
import { dayOf, monthOf } from "../../lib/days.ts"
import { type BatchSize, createBatchSize } from "./batch-size.ts"
import { LineProblem, type ParsedLine, parseSound } from "./lines.ts"

export interface ImportProgress {
  read: number
  /** Number of readings stored: new ones, and those that replaced a reading of lower precedence. */
  recorded: number
  /** Readings and attempts that were already stored. */
  known: number
  attempts: number
  skipped: number
}

export interface ImportResult extends Omit<ImportProgress, "skipped"> {
  /** Skipped lines by number from 1, with the reason. */
  bad: BadLine[]
  /** Invalid items skipped within stored lines. Left out if there are none. */
  skipped?: BadLine[]
}

export interface BadLine {
  line: number
  reason: string
}

interface ImportOptions {
  /** Lines per transaction; fewer if that would take long (batch-size.ts). */
  batch?: number
  /** Awaited between two transactions, so that requests get a turn on the embedded database's only backend. */
  pause?: () => Promise<void>
  onProgress?: (progress: ImportProgress) => void
  now?: () => Date
  /**
   * Called within each transaction with its readings, including those already stored. Called again when the transaction
   * is retried.
   */
  note?: (tx: Tx, readings: readonly Observation[]) => Promise<void>
}

/**
 * Imports lines. A batch is stored completely or not at all; long pages of reviews are stored in parts. Bad lines are
 * skipped and listed. Derives the affected keywords' metrics at the end. An interrupted import can simply be repeated.
 */
export async function importLines(
  recording: Recording,
  sql: Sql,
  lines: AsyncIterable<string>,
  {
    batch = 200,
    pause = () => sleep(PAUSE_MS),
    onProgress = () => {},
    now = () => new Date(),
    note,
  }: ImportOptions = {},
): Promise<ImportResult> {
  const total: ImportResult = { read: 0, recorded: 0, known: 0, attempts: 0, bad: [] }
  const months = new Set<string>()
  let pending: NumberedLine[] = []
  let results = 0
  let number = 0
  const size = createBatchSize()
  const storing: ImportState = { recording, sql, total, size, pause, now, note }
  const flush = async () => {
    await store(storing, pending, results)
    pending = []
    results = 0
    const { bad, ...counts } = total
    onProgress({ ...counts, skipped: bad.length })
  }
  for await (const text of lines) {
    number++
    const line = number === 1 ? text.replace(/^\uFEFF/, "") : text
    if (line.trim() === "") continue
    total.read++
    const parsed = tryParse(line, number, storing)
    if (!parsed) continue
    const more = resultsOf(parsed, recording.kinds)
    if (pending.length >= batch || (results > 0 && results + more > size.results)) {
      await flush()
      await pause()
    }
    const long = longReading(parsed, storing)
    if (long) await storeParts(storing, number, long)
    else {
      pending.push({ number, parsed })
      results += more
    }
    if (parsed.kind === "observation") months.add(monthOf(dayOf(parsed.observation.seenAt)))
  }
  await flush()
  for (const { afterImport } of recording.followUps) await afterImport?.(sql, { now, pause, months: [...months] })
  total.bad.sort((a, b) => a.line - b.line)
  return total
}

const PAUSE_MS = 5

function resultsOf(parsed: ParsedLine, kinds: readonly AnyKind[]): number {
  if (parsed.kind === "attempt") return 0
  return kindNamed(parsed.observation.kind, kinds)?.weight?.(parsed.observation) ?? 1
}

interface NumberedLine {
  number: number
  parsed: ParsedLine
}

function tryParse(text: string, line: number, { recording, total, now }: ImportState): ParsedLine | undefined {
  try {
    const { parsed, skipped } = parseSound(text, now(), recording.kinds)
    if (skipped.length > 0) total.skipped = [...(total.skipped ?? []), ...skipped.map((reason) => ({ line, reason }))]
    return parsed
  } catch (error) {
    if (!(error instanceof LineProblem || error instanceof ObservationProblem)) throw error
    total.bad.push({ line, reason: error.message })
  }
}

interface ImportState {
  recording: Recording
  sql: Sql
  total: ImportResult
  size: BatchSize
  pause: () => Promise<void>
  now: () => Date
  note: ImportOptions["note"]
}

async function store(storing: ImportState, pending: readonly NumberedLine[], results: number): Promise<void> {
  const { recording, sql, total, now } = storing
  const readings: { line: number; observation: Observation }[] = []
  const attempts: { line: number; attempt: Attempt }[] = []
  for (const { number: line, parsed } of pending) {
    if (parsed.kind === "attempt") attempts.push({ line, attempt: parsed.attempt })
    else readings.push({ line, observation: parsed.observation })
  }
  const observations = readings.map(({ observation }) => observation)
  const stored = await recording.record(sql, observations, now, optionsOf(storing, observations, results))
  total.recorded += stored.recorded
  total.known += stored.alreadyStored
  for (const { index, problem } of stored.refused) {
    total.bad.push({ line: readings[index]?.line as number, reason: problem.message })
  }
  for (const { line, attempt } of attempts) await logAttempt(storing, line, attempt)
}

function optionsOf({ size, note }: ImportState, observations: readonly Observation[], results: number): RecordOptions {
  const finish = note && ((tx: Tx) => note(tx, observations))
  return { isImport: true, noteMs: (ms) => size.note(results, ms), ...(finish && { finish }) }
}

async function logAttempt({ recording, sql, total, now }: ImportState, line: number, attempt: Attempt): Promise<void> {
  try {
    if (await recording.recordAttempt(sql, attempt, now)) total.attempts++
    else total.known++
  } catch (error) {
    if (!(error instanceof ObservationProblem)) throw error
    total.bad.push({ line, reason: error.message })
  }
}

/** Returns a reading that is too long for one transaction and can be split. Null otherwise. */
function longReading(parsed: ParsedLine, { recording, size }: ImportState): Observation | null {
  const { kinds } = recording
  if (parsed.kind === "attempt" || resultsOf(parsed, kinds) <= size.results) return null
  return kindNamed(parsed.observation.kind, kinds)?.split ? parsed.observation : null
}

async function storeParts(storing: ImportState, line: number, reading: Observation): Promise<void> {
  const { recording, sql, total, size, pause, now } = storing
  const { kinds, record } = recording
  let isNew = false
  for (let rest: Observation | null = reading; rest; ) {
    const [part, left]: [Observation, Observation | null] = kindNamed(rest.kind, kinds)!.split!(rest, size.results)
    const results = resultsOf({ kind: "observation", observation: part }, kinds)
    const { recorded, refused } = await record(sql, [part], now, optionsOf(storing, [part], results))
    const [bad] = refused
    if (bad) return void total.bad.push({ line, reason: bad.problem.message })
    isNew ||= recorded > 0
    rest = left
    if (rest) await pause()
  }
  if (isNew) total.recorded++
  else total.known++
}
