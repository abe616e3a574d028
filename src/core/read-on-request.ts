import { Fault, type FaultCode } from "../lib/faults.ts"
import type { LiveReadState, LiveSubject } from "../lib/live-read.ts"
import { DAY_MS } from "../lib/time.ts"
import type { Context } from "./operation.ts"

/** How long a call waits for a reading before it answers that one is under way. */
export const WAIT_MS = 3_000
/** The longest that a call may take which waits for two readings, one after the other. */
export const READING_DEADLINE_MS = deadlineOf(WAIT_MS, WAIT_MS)

export const NOT_THERE = "The store does not have it there."

/** What an operation may raise that has something read. */
export const READING_FAULTS: FaultCode[] = ["not_measured", "measure_busy", "hive_write_failed"]

const ANOTHER = "The store answered for another country, app or term than was asked for, so nothing was measured."

/** The longest that a call may take which waits that long for one reading after another. */
export function deadlineOf(...waitsMs: readonly number[]): number {
  return waitsMs.reduce((sum, waitMs) => sum + waitMs, 4_500)
}

/** The first moment of which a reading that is kept so many days still counts. */
export function keptSince(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS)
}

/**
 * Has something read, unless a reading of it that is kept is stored. Null: it is stored now. A number: it is under way, with
 * about so many seconds to go. Throws not_measured where this instance does not read it or the store does not have it, and
 * what costs nothing where it could not be: measure_busy where it could not be read, hive_write_failed where it was and could not be stored.
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

/** A not_measured can be answered; what else kept it from being read is thrown, and costs nothing. */
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

/** Explains each failure when the source's state is unknown. */
const BUSY_DETAIL = {
  blocked: "The store refuses this server's requests; it is asked again on its own.",
  rate_limited: "The store asks this server to slow down; it is asked again on its own.",
  changed: "The store's answer has a form that this version cannot read; appmeter sources shows which.",
  failed: "The store gave no usable answer; it is asked again on its own.",
  gone: "No process took up the reading in time.",
  busy: "More readings are waiting than can be made within a minute.",
  refused: "The reading was not started.",
} as const

function unreadDetail(because: string | undefined): string {
  return because ? `This instance does not read it: ${because}.` : "This instance does not read it."
}

/** A queue that long, or a store that refuses, is no better in a second. */
const RETRY_S = 60
