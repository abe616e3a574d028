import { onceATurn } from "../../database/statement-groups.ts"

/** Asked for in one command. */
interface Batch<Unit, Answer> {
  units: QueuedUnit<Unit, Answer>[]
  isSent: boolean
  isOver: boolean
  /** Of its first unit's arrival. */
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
  /** What those get whose answer did not come in time. */
  late(): Error
}

/** Commands under way at once; what comes meanwhile is gathered. */
const MOST_UNDER_WAY = 2
/** Units of one command: more go at once, in another. */
const MOST_TOGETHER = 200

/** What comes in one turn of the event loop, or while other commands are under way, shares one, in the order in which it came. */
export function createTogether<Unit, Answer>({ ask, timeoutMs, late }: TogetherOptions<Unit, Answer>) {
  let underWay = 0
  let gathering: Batch<Unit, Answer> | null = null

  /** One that has not been answered is not waited for: the next goes without. */
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
    if (gathering && underWay < MOST_UNDER_WAY) void send(gathering)
  })
  return (unit: Unit): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    gathering ??= { units: [], isSent: false, isOver: false, timer: undefined }
    gathering.timer ??= setTimeout(giveUp, timeoutMs, gathering)
    gathering.units.push({ unit, resolve, reject })
    if (gathering.units.length >= MOST_TOGETHER) void send(gathering)
    else sendSoon()
    return promise
  }
}
