import { type Context, type EmptyAnswer, nothing } from "../../core/operation.ts"
import { readOnRequest, throwUnlessAnswer } from "../../core/read-on-request.ts"
import { Fault } from "../../lib/faults.ts"
import { beingRead, type LiveSubject } from "../../lib/live-read.ts"

interface Reading {
  wanted: LiveSubject
  keptDays: number
  /** Default: 3 s. */
  waitMs?: number
  /** True refuses older readings: the call fails with measure_busy if the reading takes longer than `waitMs`. */
  live?: true
  /**
   * Returns a sentence that names other places with a stored answer, for the error if nothing is stored for this
   * request.
   */
  elsewhere?: () => Promise<string | null>
}

/**
 * Reads the subject unless the stored reading is fresh, and then answers from the database. If the store cannot be read
 * now, the answer is an older reading with its day. If there is none, the result is not_measured at the price of an
 * empty answer, with the reason and when to retry. Throws measure_busy and hive_write_failed, which cost nothing.
 */
export async function readNow<Answer extends object>(
  ctx: Context,
  reading: Reading,
  stored: () => Promise<Answer | EmptyAnswer | null>,
): Promise<Answer | EmptyAnswer> {
  const why = await whyUnread(ctx, reading)
  const answer = await stored()
  if (answer) return answer
  throwUnlessAnswer(why)
  const detail = why?.extra.detail ?? NOTHING_SAID
  const place = (await reading.elsewhere?.()) ?? null
  return nothing(new Fault("not_measured", { detail: place === null ? detail : `${detail} ${place}` }))
}

/**
 * Reads the subject unless the stored reading is fresh. Returns the reason why the subject was not read, or null if a
 * fresh reading is stored.
 */
export async function whyUnread(ctx: Context, { wanted, keptDays, waitMs, live }: Reading): Promise<Fault | null> {
  try {
    const eta = await readOnRequest(ctx, wanted, { keptDays, waitMs })
    if (eta === null) return null
    if (live) return new Fault("measure_busy", { detail: beingRead(eta) }, { retryAfter: eta })
    return new Fault("not_measured", { detail: beingRead(eta) })
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

const NOTHING_SAID = "It was read, but the store did not show this."
