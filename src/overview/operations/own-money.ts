import type * as v from "valibot"
import { type AdsDay, summedMoney } from "../../consoles/ads/read/day.ts"
import type { Money } from "../../consoles/operations/account-shapes.ts"
import type { AccountDay } from "../../consoles/read/read-day.ts"

/** What an app's own accounts said of a day; money only where it may be seen. */
export function ownFigures(own: AccountDay | undefined, ads: AdsDay | undefined, hiddenMoney: boolean) {
  const money = { subscriptionRevenue: own?.dollars ?? null, adSpend: ads?.spend ?? null }
  return { ...(hiddenMoney ? { subscriptionRevenue: null, adSpend: null } : money), trials: own?.trials ?? null }
}

/** Null where there is none, or of several currencies. */
export function oneCurrency(all: readonly v.InferOutput<typeof Money>[]): v.InferOutput<typeof Money> | null {
  const [first] = all
  if (!first || all.some(({ currency }) => currency !== first.currency)) return null
  return { ...first, amount: summedMoney(all.map(({ amount }) => amount)) }
}

/** The exact sum of dollars, which as binary fractions would end in 0.30000000000000004; null = none are known. */
export function sumOfDollars(amounts: readonly number[]): number | null {
  return amounts.length === 0 ? null : Number(summedMoney(amounts.map((amount) => amount.toFixed(6))))
}
