import { addDays } from "../../vocabulary/days.ts"
import { questionFailure } from "../failed-question.ts"
import { pacificDay } from "../pacific.ts"
import { type ReportParts, readReport } from "../read-report.ts"
import { makeTurns, readNextTurn, type Turn } from "../turns.ts"
import type { ConsoleParts } from "./console-parts.ts"
import {
  type ConsoleTask,
  type ConsoleTurn,
  failConsoleTurn,
  makeConsoleTurns,
  readNextConsoleTurn,
} from "./console-turns.ts"
import { readAnalytics, readInstance } from "./read-analytics.ts"
import { readPrices, readProducts } from "./read-prices.ts"

/** Makes due all that is read of an account. */
export async function makeConsoleWork({
  sql,
  account,
  now,
}: Pick<ConsoleParts, "sql" | "account" | "now">): Promise<void> {
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
 * Reads what comes next: what somebody waits for, the newest days of reports, what is asked for by itself, then older days back to a
 * year ago. False if nothing is due. A failure ends its own turn; throws what stops the account.
 */
export async function readNext(parts: ConsoleParts & ReportParts): Promise<boolean> {
  const { sql, account, now } = parts
  const turn = await readNextTurn(sql, account.id)
  const own = await readNextConsoleTurn(sql, account.id)
  if (own && (own.isAsked || !turn || !isNew(turn, now()))) await readOwn(parts, own)
  else if (turn) await readReport(parts, turn)
  return own !== null || turn !== null
}

async function readOwn(parts: ConsoleParts, turn: ConsoleTurn): Promise<void> {
  const { sql, account, signal, log } = parts
  try {
    await READ[turn.task](parts, turn)
  } catch (error) {
    const failure = questionFailure(error, { signal, log, what: `console ${turn.task}` })
    if (failure === null) throw error
    await failConsoleTurn(sql, account.id, turn, failure.message)
    if (failure.stops) throw error
  }
}

function isNew({ day }: Turn, now: Date): boolean {
  return day >= addDays(pacificDay(now), -NEWEST_DAYS)
}
