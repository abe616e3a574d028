import { setTimeout as sleep } from "node:timers/promises"
import type { AppAccount } from "../../accounts/app-accounts.ts"
import type { TurnStanding } from "../../accounts/seller/console-turns.ts"
import { isAccountRead, putPricesFirst, readPriceTurn } from "../../accounts/seller/read-country-prices.ts"
import type { Context } from "../../operation.ts"
import { DAY_MS } from "../../vocabulary/time.ts"

interface PriceReading {
  /** When it was last read; null = never. */
  readAt: Date | null
  /** It was within this call. */
  isLive: boolean
  /** The required action or the failure. Null if there is none. */
  why: string | null
}

/** The longest that a call waits. */
const WAIT_MS = 3_500
const BETWEEN_MS = 150

/**
 * What is stored, or what the console says now where that is over a day old: whoever reads with the account is asked to do this first,
 * and how many callers wait makes no difference. Where nobody reads, nobody waits.
 */
export async function readLive(account: AppAccount, product: string | null, ctx: Context): Promise<PriceReading> {
  const { sql } = ctx
  const stands = await readPriceTurn(sql, account, product)
  const why = whyNot(stands)
  if (stands?.state === "denied") return { readAt: stands.readAt, isLive: false, why }
  const isFresh = stands?.readAt && ctx.now().getTime() - stands.readAt.getTime() < DAY_MS
  if (isFresh || !(await isAccountRead(sql, account))) return { readAt: stands?.readAt ?? null, isLive: false, why }
  await putPricesFirst(sql, account, product)
  for (let waited = 0; waited < WAIT_MS; waited += BETWEEN_MS) {
    await sleep(BETWEEN_MS)
    const turn = await readPriceTurn(sql, account, product)
    if (turn && !turn.isAsked) return { readAt: turn.readAt, isLive: turn.state === "ok", why: whyNot(turn) }
  }
  return { readAt: stands?.readAt ?? null, isLive: false, why }
}

function whyNot(turn: TurnStanding | null): string | null {
  if (turn?.state === "denied") return NEEDS
  return turn?.failure ? `prices: ${turn.failure}` : null
}

const NEEDS = "the key may not read prices: that needs the role App Manager or Admin"
