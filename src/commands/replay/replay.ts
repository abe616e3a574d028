import { setTimeout as sleep } from "node:timers/promises"
import { ObservationProblem } from "../../core/observation/invariants.ts"
import type { Sql } from "../../database/types.ts"
import { deriveFigures } from "../../keywords/store/figures.ts"
import type { Observation } from "../../kinds.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { RawBodies } from "../../measuring/raw-bodies.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { recording } from "../../recording.ts"
import type { Sources } from "../../sources.ts"
import { readStoredReports } from "./replay-account-reports.ts"
import { readUnreadAttempts } from "./replay-attempts.ts"
import { createReport, type ReplayExample, type ReplayReport, type ReplaySummary } from "./replay-report.ts"
import type { ReplaySubject } from "./replay-subjects.ts"
import { readStoredReadings } from "./stored-readings.ts"

interface ReplayOptions {
  bodies: Pick<RawBodies, "read" | "size">
  sources: Sources
  /** The first day, "YYYY-MM-DD". Default: all days; for search results, the days whose bodies may still be stored. */
  since?: string | undefined
  /** Only readings of this source. */
  source?: SourceName | undefined
  /** Records the differences. */
  write?: boolean
  now?: () => Date
  /** Awaited between pages, so that calls get a turn on the embedded database. */
  pause?: () => Promise<void>
  onProgress?: (readings: number) => void
}

/**
 * Parses stored bodies again. Without `write`, nothing is changed. With it, passes to `record` all readings that
 * differ, that an older parser read, or that can be parsed only now; `record` decides by its rules which of them are
 * stored. A repeated replay continues where it ended.
 */
export async function replay(sql: Sql, options: ReplayOptions): Promise<ReplaySummary> {
  const { now = () => new Date(), pause = () => sleep(PAUSE_MS), onProgress = () => {}, write = false } = options
  const report = createReport()
  let readings = 0
  for await (const page of readPages(sql, options)) {
    const seen: Observation[] = []
    for (const stored of page) {
      const observation = await judge(stored, options, now(), report)
      if (observation) seen.push(observation)
      readings += stored.subjects.length
    }
    if (write) await recordParts(sql, seen, now, report)
    onProgress(readings)
    await pause()
  }
  if (write) await deriveFigures(sql, { now, pause })
  return report.result()
}

const PAUSE_MS = 5

async function* readPages(
  sql: Sql,
  { bodies, sources, since, source }: ReplayOptions,
): AsyncGenerator<ReplaySubject[]> {
  const { oldest, bodies: bodyCount } = await bodies.size()
  if (bodyCount === 0) return
  const range = { since: since ?? null, source: source ?? null }
  if (oldest) yield* readStoredReadings(sql, sources, { ...range, firstKept: addDays(dayOf(oldest), -1) })
  yield* readStoredReports(sql, range)
  if (oldest) yield* readUnreadAttempts(sql, sources, range)
}

/** Parses the body of a reading again, adds the result to the report, and returns the observation to record. */
async function judge(
  stored: ReplaySubject,
  { bodies }: ReplayOptions,
  now: Date,
  report: ReplayReport,
): Promise<Observation | null> {
  const { source, sha256, seenAt, subjects, parser } = stored
  const body = await bodies.read(sha256)
  if (!body) {
    report.add(source, "notKept", subjects.length)
    return null
  }
  let seen: Observation
  try {
    seen = await stored.read({ ...body, url: "", seenAt })
    recording.checkObservation(seen, now)
  } catch (error) {
    if (!(error instanceof ReadFailure || error instanceof ObservationProblem)) throw error
    report.add(source, parser === null ? "stillUnreadable" : "unreadable", subjects.length)
    if (parser !== null) report.example(exampleOf(stored, "unreadable", subjects.join(), reasonOf(error)))
    return null
  }
  if (parser !== null) return compared(stored, seen, report) || parser < seen.parser ? seen : null
  report.add(source, "nowReadable", 1)
  report.example(exampleOf(stored, "now readable", subjects.join(), `by parser ${seen.parser}`))
  return seen
}

function reasonOf(error: ReadFailure | ObservationProblem): string {
  return `${error instanceof ReadFailure ? error.outcome : "changed"}: ${error.message}`
}

function exampleOf(
  { source, platform, storefront, seenAt }: ReplaySubject,
  change: ReplayExample["change"],
  subject: string,
  detail: string,
): ReplayExample {
  return { source, change, platform, storefront, subject, seenAt, detail }
}

/** Adds the differences to the report. Returns whether there are any. */
function compared(stored: ReplaySubject, seen: Observation, report: ReplayReport): boolean {
  const differences = stored.compare(seen)
  differences.forEach((difference, place) => {
    report.add(stored.source, difference ? "different" : "same", 1)
    if (!difference) return
    report.add(stored.source, "places", difference.places)
    report.example(exampleOf(stored, "different", stored.subjects[place] as string, difference.detail))
  })
  return differences.some((difference) => difference !== null)
}

// Results per transaction, as many as an import stores in one.
const PART_RESULTS = 1_000

async function recordParts(
  sql: Sql,
  seen: readonly Observation[],
  now: () => Date,
  report: ReplayReport,
): Promise<void> {
  for (const [source, observations] of Map.groupBy(seen, ({ source }) => source)) {
    let part: Observation[] = []
    for (const [place, one] of observations.entries()) {
      part.push(one)
      const results = part.reduce(
        (sum, observation) => sum + (observation.kind === "search" ? observation.results.length : 20),
        0,
      )
      if (results < PART_RESULTS && place < observations.length - 1) continue
      const { recorded } = await recording.record(sql, part, now, { isImport: true })
      report.add(source, "recorded", recorded)
      part = []
    }
  }
}
