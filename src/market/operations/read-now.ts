import { type Context, type EmptyAnswer, nothing } from "../../core/operation.ts"
import { readOnRequest, throwUnlessAnswer } from "../../core/read-on-request.ts"
import { Fault } from "../../lib/faults.ts"
import { beingRead, type LiveSubject } from "../../lib/live-read.ts"

interface Reading {
  wanted: LiveSubject
  keptDays: number
  /** Default: 3 s. */
  waitMs?: number
  /** True refuses older readings: the call fails with measure_busy if the wait is exceeded. */
  live?: true
  /** Returns a sentence on where else the answer is stored, for the error if nothing is stored here. */
  elsewhere?: () => Promise<string | null>
}

/**
 * Answers from the database after reading anew, unless the stored reading is fresh. If the store cannot be read now, an
 * older reading is used, with its day. Without one, the result is not_measured at the price of an empty answer, with
 * the reason and when to retry. Throws measure_busy and hive_write_failed, which cost nothing.
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

/** Reads the subject unless it is fresh. Returns the reason why it was not read, or null if it is stored. */
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
