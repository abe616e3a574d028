import { setTimeout as sleep } from "node:timers/promises"
import type { AccountTurn } from "./account-kind.ts"
import { questionFailure } from "./failed-question.ts"
import { type AccountTask, endTask, readNextTask } from "./tasks.ts"

/** How the tasks of an account are read. */
interface TaskReading {
  /** Asks the platform and stores the answer with the end of the task. */
  read(task: AccountTask): Promise<void>
  /** Stores what a missing right means for other tasks. */
  putOffDenied?(task: AccountTask, failure: string): Promise<void>
  /** How long the key is to be left alone; null: it may go on. */
  restMs(): number | null
}

/**
 * Reads the tasks of an account that are due, one after the other. A failure ends its own task; throws what stops the account.
 * Returns how long the account is to be left alone; null: until a task is due.
 */
export async function readTasks(turn: AccountTurn, reading: TaskReading): Promise<number | null> {
  const { sql, account, now, closing, signal, gapMs, atMost } = turn
  for (let asked = 0; asked < atMost && !closing.aborted && !signal.aborted; asked++) {
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
