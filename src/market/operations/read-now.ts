import { type Context, type EmptyAnswer, nothing } from "../../core/operation.ts"
import { readOnRequest, throwUnlessAnswer } from "../../core/read-on-request.ts"
import { Fault } from "../../lib/faults.ts"
import type { LiveSubject } from "../../lib/live-read.ts"

interface Reading {
  wanted: LiveSubject
  keptDays: number
  /** 3 s unless said. */
  waitMs?: number
  /** An older reading is no answer: what takes longer than the wait is measure_busy. */
  live?: true
  /** Where else something of it is held: said where nothing is held here. */
  elsewhere?: () => Promise<string | null>
}

/**
 * Answers from what is stored after having it read, unless a reading that is kept is stored already. What could not be read
 * now is answered from an older reading, whose day the answer says; where there is none, it is not_measured at the price
 * of an empty answer, and says when to ask again or why it is not read.
 * Throws measure_busy and hive_write_failed, which cost nothing.
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
  const said = why?.extra.detail ?? NOTHING_SAID
  const place = (await reading.elsewhere?.()) ?? null
  return nothing(new Fault("not_measured", { detail: place === null ? said : `${said} ${place}` }))
}

/** Why it was not read; null = it is stored. */
export async function whyUnread(ctx: Context, { wanted, keptDays, waitMs, live }: Reading): Promise<Fault | null> {
  try {
    const eta = await readOnRequest(ctx, wanted, { keptDays, waitMs })
    if (eta === null) return null
    if (live)
      return new Fault("measure_busy", { detail: `It is being read now: ask again in ${eta} s.` }, { retryAfter: eta })
    return new Fault("not_measured", { detail: `It is being read now: ask again in ${eta} s.` })
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

const NOTHING_SAID = "It was read, and the store said nothing of this."
