/** Prices in credits, each for a number of requested days up to a maximum. */
const PRICES = [
  { upTo: 7, credits: 10 },
  { upTo: 30, credits: 20 },
  { upTo: 90, credits: 40 },
] as const

export const MAX_DAYS = 90

/** The price depends on the number of requested days, however few of them have data. */
export function dayPrice(daysLeftOut: number) {
  return {
    min: PRICES[0].credits,
    atMost: PRICES[2].credits,
    of: ({ days = daysLeftOut }: { days?: number | undefined }) => PRICES.find(({ upTo }) => days <= upTo)!.credits,
    note: `for up to ${PRICES.map(({ upTo, credits }) => `${upTo} days: ${credits}`).join(", ")}`,
  }
}
