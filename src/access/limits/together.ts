import { onceATurn } from "../../database/statement-groups.ts"

/** Units that share a command. */
interface Batch<Unit, Answer> {
  units: QueuedUnit<Unit, Answer>[]
  isSent: boolean
  isOver: boolean
  /** Starts when the first unit arrives. */
  timer: ReturnType<typeof setTimeout> | undefined
}

interface QueuedUnit<Unit, Answer> {
  unit: Unit
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface TogetherOptions<Unit, Answer> {
  ask(units: readonly Unit[]): Promise<Answer[]>
  timeoutMs: number
  /** Returns the error for units whose answer does not come in time. */
  late(): Error
}

/** Commands in flight at once. Units that arrive meanwhile are batched. */
const MAX_RUNNING = 2
/** Maximum number of units in a command. Further units are sent in another one. */
const MAX_BATCH = 200

/**
 * Batches units that arrive in the same turn of the event loop, or while other commands are in flight, in order of
 * arrival.
 */
export function createTogether<Unit, Answer>({ ask, timeoutMs, late }: TogetherOptions<Unit, Answer>) {
  let underWay = 0
  let gathering: Batch<Unit, Answer> | null = null

  /** Ends a batch. One that timed out no longer occupies its place: the next one is sent without waiting for it. */
  const end = (batch: Batch<Unit, Answer>): void => {
    if (batch.isOver) return
    batch.isOver = true
    clearTimeout(batch.timer)
    if (batch.isSent) underWay--
    else gathering = null
    sendSoon()
  }
  const giveUp = (batch: Batch<Unit, Answer>): void => {
    const error = late()
    for (const { reject } of batch.units) reject(error)
    end(batch)
  }
  const send = async (batch: Batch<Unit, Answer>): Promise<void> => {
    const { units } = batch
    batch.isSent = true
    gathering = null
    underWay++
    try {
      const answers = await ask(units.map(({ unit }) => unit))
      for (const [at, { resolve }] of units.entries()) resolve(answers[at] as Answer)
    } catch (error) {
      for (const { reject } of units) reject(error)
    }
    end(batch)
  }
  const sendSoon = onceATurn(() => {
    if (gathering && underWay < MAX_RUNNING) void send(gathering)
  })
  return (unit: Unit): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    gathering ??= { units: [], isSent: false, isOver: false, timer: undefined }
    gathering.timer ??= setTimeout(giveUp, timeoutMs, gathering)
    gathering.units.push({ unit, resolve, reject })
    if (gathering.units.length >= MAX_BATCH) void send(gathering)
    else sendSoon()
    return promise
  }
}
