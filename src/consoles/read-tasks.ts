import { setTimeout as sleep } from "node:timers/promises"
import type { AccountTurn } from "./account-kind.ts"
import { questionFailure } from "./failed-question.ts"
import { type AccountTask, endTask, readNextTask } from "./tasks.ts"

/** How to read the tasks of one account. */
interface TaskReading {
  /** Requests the data and stores it in the same transaction as the end of the task. */
  read(task: AccountTask): Promise<void>
  /** Postpones the other tasks that need the missing right. */
  putOffDenied?(task: AccountTask, failure: string): Promise<void>
  /** Returns how long to wait before the key is used again. Null if reading may continue. */
  restMs(): number | null
}

/**
 * Reads the due tasks of an account one after another. A failure ends only its own task; errors that concern the whole
 * account are thrown. Returns how long to leave the account alone; null means until the next task is due.
 */
export async function readTasks(turn: AccountTurn, reading: TaskReading): Promise<number | null> {
  const { sql, account, now, closing, signal, gapMs, atMost } = turn
  for (let count = 0; count < atMost && !closing.aborted && !signal.aborted; count++) {
    const task = await readNextTask(sql, account.id, now())
    if (task === null) return null
    await readOne(turn, reading, task)
    await turn.noteAnswer()
    const restMs = reading.restMs()
    if (restMs !== null) return restMs
    await sleep(gapMs, undefined, { signal: closing }).catch(() => {})
  }
  return null
}

const HOUR_MS = 3_600_000

async function readOne(turn: AccountTurn, reading: TaskReading, task: AccountTask): Promise<void> {
  const { sql, account, now, signal, log } = turn
  try {
    await reading.read(task)
  } catch (error) {
    const failure = questionFailure(error, { signal, log, what: `account ${task.task}` })
    if (failure === null) throw error
    const { message, isDenied, isLate, stops } = failure
    await endTask(sql, account.id, task, {
      state: isDenied ? "denied" : "late",
      failure: message,
      ...(isLate && { nextAt: new Date(now().getTime() + HOUR_MS) }),
    })
    if (isDenied) {
      await reading.putOffDenied?.(task, message)
      await turn.noteDenied()
    }
    if (stops) throw error
  }
}
