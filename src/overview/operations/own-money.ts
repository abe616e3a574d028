import type * as v from "valibot"
import { type AdsDay, summedMoney } from "../../consoles/ads/read/day.ts"
import type { Money } from "../../consoles/operations/account-shapes.ts"
import type { AccountDay } from "../../consoles/read/read-day.ts"

/** Returns the figures of a day from the app's own accounts, without money if it is hidden. */
export function ownFigures(account: AccountDay | undefined, ads: AdsDay | undefined, hiddenMoney: boolean) {
  const money = { subscriptionRevenue: account?.dollars ?? null, adSpend: ads?.spend ?? null }
  return { ...(hiddenMoney ? { subscriptionRevenue: null, adSpend: null } : money), trials: account?.trials ?? null }
}

/** Returns the sum. Null for an empty list or several currencies. */
export function oneCurrency(all: readonly v.InferOutput<typeof Money>[]): v.InferOutput<typeof Money> | null {
  const [first] = all
  if (!first || all.some(({ currency }) => currency !== first.currency)) return null
  return { ...first, amount: summedMoney(all.map(({ amount }) => amount)) }
}

/** Adds dollars as decimals: binary fractions would yield 0.30000000000000004. Null for an empty list. */
export function sumOfDollars(amounts: readonly number[]): number | null {
  return amounts.length === 0 ? null : Number(summedMoney(amounts.map((amount) => amount.toFixed(6))))
}
