import { addDays } from "../../vocabulary/days.ts"
import { ConsoleProblem } from "../console.ts"
import { pacificDay } from "../pacific.ts"
import { type ReportParts, readReport } from "../read-report.ts"
import { makeTurns, readNextTurn, type Turn } from "../turns.ts"
import { type ConsoleParts, hoursLater } from "./console-parts.ts"
import {
  type ConsoleTask,
  type ConsoleTurn,
  endConsoleTurn,
  makeConsoleTurns,
  readNextConsoleTurn,
} from "./console-turns.ts"
import { readAnalytics, readInstance } from "./read-analytics.ts"
import { readPrices, readProducts } from "./read-prices.ts"

/** Makes due all that is read of an account. */
export async function makeConsoleWork({ sql, account, now }: ReportParts): Promise<void> {
  await makeTurns(sql, account.id, now())
  await makeConsoleTurns(sql, account.id)
}

const READ: Record<ConsoleTask, (parts: ConsoleParts, turn: ConsoleTurn) => Promise<void>> = {
  analytics: readAnalytics,
  instance: readInstance,
  products: readProducts,
  prices: readPrices,
}

/** Days of reports that an owner looks for first. */
const NEWEST_DAYS = 7

/**
 * Reads what comes next: what somebody waits for, the newest days of reports, what is asked for by itself, then older days back to a year
 * ago. Null = nothing is due. Throws ConsoleProblem.
 */
export async function readNext(parts: ReportParts): Promise<{ hourLeft: number | null } | null> {
  const { sql, account, now } = parts
  const turn = await readNextTurn(sql, account.id)
  const own = await readNextConsoleTurn(sql, account.id)
  if (own && (own.isAsked || !turn || !isNew(turn, now()))) {
    return await readOwn(parts, own)
  }
  return turn && (await readReport(parts, turn))
}

/** What the console refuses of one thing says nothing of others: it comes again later, and they are read on. */
async function readOwn(parts: ReportParts, turn: ConsoleTurn): Promise<{ hourLeft: number | null }> {
  const counted = countHour(parts)
  try {
    await READ[turn.task](counted.parts, turn)
  } catch (error) {
    if (!(error instanceof ConsoleProblem) || !(error.trouble in AGAIN_HOURS)) throw error
    const nextAt = hoursLater(parts.now(), AGAIN_HOURS[error.trouble] as number)
    await endConsoleTurn(parts.sql, parts.account.id, turn, { state: "late", nextAt, failure: error.message })
    if (error.trouble === "unavailable") throw error
  }
  return { hourLeft: counted.hourLeft() }
}

const AGAIN_HOURS: Partial<Record<ConsoleProblem["trouble"], number>> = { forbidden: 24, refused: 24, unavailable: 1 }

function isNew({ day }: Turn, now: Date): boolean {
  return day >= addDays(pacificDay(now), -NEWEST_DAYS)
}

/** What the console last said that the key has left, over all requests of a turn. */
function countHour(parts: ReportParts): { parts: ConsoleParts; hourLeft(): number | null } {
  let left: number | null = null
  const { console } = parts
  const get: typeof console.get = async (path, signal) => {
    const answer = await console.get(path, signal)
    left = answer.hourLeft ?? left
    return answer
  }
  return { parts: { ...parts, console: { ...console, get } }, hourLeft: () => left }
}
