import { Fault, type FaultCode } from "../lib/faults.ts"
import type { LiveReadState, LiveSubject } from "../lib/live-read.ts"
import { DAY_MS } from "../lib/time.ts"
import type { Context } from "./operation.ts"

/** Maximum time that a call waits for a reading before it answers that the reading is pending. */
export const WAIT_MS = 3_000
/** Deadline of a call that waits for two readings in sequence. */
export const READING_DEADLINE_MS = deadlineOf(WAIT_MS, WAIT_MS)

export const NOT_THERE = "The store does not list it there."

/** Faults of an operation that reads on request. */
export const READING_FAULTS: FaultCode[] = ["not_measured", "measure_busy", "hive_write_failed"]

const ANOTHER = "The store's response is for another country, app or term than requested. Nothing was measured."

/** Returns the deadline of a call that waits for several readings in sequence. */
export function deadlineOf(...waitsMs: readonly number[]): number {
  return waitsMs.reduce((sum, waitMs) => sum + waitMs, 4_500)
}

/** Returns the oldest time at which a reading with this retention still counts. */
export function retainedSince(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS)
}

/**
 * Reads a subject unless a recent reading is stored. Returns null once it is stored, or the estimated seconds left
 * while it is pending. Throws not_measured if this instance does not read the subject or the store does not have it.
 * Throws, free of charge, measure_busy if it could not be read, and hive_write_failed if it could not be stored.
 */
export async function readOnRequest(
  { measure }: Pick<Context, "measure">,
  wanted: LiveSubject,
  { keptDays, waitMs = WAIT_MS }: { keptDays: number; waitMs?: number | undefined },
): Promise<number | null> {
  const measured = await measure(wanted, { maxAgeMs: keptDays * DAY_MS, waitMs })
  if (measured.state === "fresh") return null
  if (measured.state === "pending") return measured.eta
  throw refusal(measured)
}

/** Throws any fault except not_measured, which the caller turns into an answer. A call that throws is not charged. */
export function throwUnlessAnswer(why: Fault | null | undefined): void {
  if (why && why.code !== "not_measured") throw why
}

function refusal(measured: LiveReadState & { state: "failed" }): Fault {
  const { why } = measured
  if (why === "off") return new Fault("not_measured", { detail: unreadDetail(measured.because) })
  if (why === "mismatched") return new Fault("not_measured", { detail: ANOTHER })
  if (why === "not_found") return new Fault("not_measured", { detail: NOT_THERE })
  if (why === "unstored") return new Fault("hive_write_failed", {}, { retryAfter: RETRY_S })
  return new Fault("measure_busy", { detail: measured.because ?? BUSY_DETAIL[why] }, { retryAfter: RETRY_S })
}

/** The explanation of each failure, for use if the state of the source is unknown. */
const BUSY_DETAIL = {
  blocked: "The store refuses requests from this server. They are retried automatically.",
  rate_limited: "The store limits requests from this server. They are retried automatically.",
  changed: "This version cannot read the store's response. See: appmeter sources",
  failed: "The store sent no usable response. The request is retried automatically.",
  gone: "No worker started the reading in time. Try again later.",
  busy: "Too many readings are waiting. Try again in a minute.",
  refused: "The reading was not started.",
} as const

function unreadDetail(because: string | undefined): string {
  return because ? `This instance does not read it: ${because}.` : "This instance does not read it."
}

/** A long queue or a store that refuses does not recover within seconds. */
const RETRY_S = 60
