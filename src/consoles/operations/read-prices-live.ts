import { setTimeout as sleep } from "node:timers/promises"
import type { Context } from "../../core/operation.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { AppAccount } from "../read/app-accounts.ts"
import { isAccountRead, putPricesFirst, readPriceTask } from "../seller/read-country-prices.ts"
import type { TaskStanding } from "../tasks.ts"

interface PriceReading {
  /** Time of the last successful read. Null if there was none. */
  readAt: Date | null
  /** True if the prices were read during this call. */
  isLive: boolean
  /** The required action or the failure. Null if there is none. */
  why: string | null
}

/** Maximum time that a call waits. */
const WAIT_MS = 3_500
const BETWEEN_MS = 150

/**
 * Returns the time when the stored prices were read. If that is over a day ago, puts the task first for the worker that
 * reads the account, and waits for it; calls for the same product share one task. Returns immediately if no server
 * reads the account.
 */
export async function readLive(account: AppAccount, product: string | null, ctx: Context): Promise<PriceReading> {
  const { sql } = ctx
  const stands = await readPriceTask(sql, account, product)
  const why = whyNot(stands)
  if (stands?.state === "denied") return { readAt: stands.readAt, isLive: false, why }
  const isFresh = stands?.readAt && ctx.now().getTime() - stands.readAt.getTime() < DAY_MS
  if (isFresh || !(await isAccountRead(sql, account))) return { readAt: stands?.readAt ?? null, isLive: false, why }
  await putPricesFirst(sql, account, product)
  for (let waited = 0; waited < WAIT_MS; waited += BETWEEN_MS) {
    await sleep(BETWEEN_MS)
    const task = await readPriceTask(sql, account, product)
    if (task && !task.isAsked)
      return { readAt: task.readAt, isLive: isLater(task.readAt, stands?.readAt ?? null), why: whyNot(task) }
  }
  return { readAt: stands?.readAt ?? null, isLive: false, why }
}

function isLater(readAt: Date | null, before: Date | null): boolean {
  return readAt !== null && (before === null || readAt > before)
}

function whyNot(task: TaskStanding | null): string | null {
  if (task?.state === "denied") return NEEDS
  return task?.failure ? `prices: ${task.failure}` : null
}

const NEEDS = "the key cannot read prices; it needs the role App Manager or Admin"
