import { Fault } from "../../../lib/faults.ts"
import type { WriteLimits } from "../../writing/limits.ts"

/** Throws write_limit_reached when the bid is outside the account's limits. Amounts are in the account's currency. */
export function refuseBid(amount: number, before: number | null, limits: WriteLimits): void {
  const { leastBid, mostBid } = limits
  if (amount < leastBid || amount > mostBid)
    throw refused(`A bid of this account must be from ${leastBid} to ${mostBid}.`)
  refuseStep("bid", amount, before, limits)
}

/**
 * Throws write_limit_reached when the budget is outside the limits or below a bid: such a budget could buy nothing at
 * that bid.
 */
export function refuseBudget(
  amount: number,
  { before, highestBid }: { before: number | null; highestBid: number | null },
  limits: WriteLimits,
): void {
  if (highestBid !== null && amount < highestBid)
    throw refused(`The campaign has a bid of ${highestBid}, and its daily budget must not be less.`)
  if (amount > limits.mostBudget) throw refused(`A daily budget of this account is at most ${limits.mostBudget}.`)
  refuseStep("daily budget", amount, before, limits)
}

/** Allows a rounding difference of half a hundredth. */
function refuseStep(what: string, amount: number, before: number | null, { step }: WriteLimits): void {
  if (before === null) return
  const [least, most] = [before * (1 - step), before * (1 + step)]
  if (amount >= least - 0.005 && amount <= most + 0.005) return
  const bounds = `${least.toFixed(2)} to ${most.toFixed(2)}`
  throw refused(`One write changes a ${what} by at most ${Math.round(step * 100)} %: from ${before} to ${bounds}.`)
}

export function refused(reason: string): Fault {
  return new Fault("write_limit_reached", { reason })
}

/** Throws invalid_arguments when the given currency is not the account's. */
export function refuseCurrency(meant: string | undefined, currency: string | null): void {
  if (meant === undefined || meant.toUpperCase() === currency) return
  const detail = `The account uses ${currency ?? "an unknown currency"}. Omit currency or set it to that one.`
  throw new Fault("invalid_arguments", { field: "currency", detail })
}
