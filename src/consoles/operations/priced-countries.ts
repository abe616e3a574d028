import type { RivalPrices } from "../../listings/read/rival-prices.ts"
import { entryInForce, type PriceEntry, upcomingEntry } from "../formulas/price-periods.ts"
import { bigMacsFor, dollarRate, PRICE_LEVELS } from "../seller/price-levels.ts"

/** Minimum number of paid rivals for a median. */
export const MIN_RIVALS = 3

/** Returns the prices by storefront. `us` is the price in the United States, to which the others are compared. */
export function pricedCountries(
  entries: readonly PriceEntry[],
  us: PriceEntry | null,
  { today, country, rivals }: { today: string; country: string | null; rivals: readonly RivalPrices[] },
) {
  const byCountry = Map.groupBy(entries, (entry) => entry.country)
  return [...byCountry]
    .filter(([code]) => country === null || code === country)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([code, prices]) => {
      const [now, next] = [entryInForce(prices, today), upcomingEntry(prices, today)]
      const current = now ?? next
      if (!current) return []
      const { currency } = current
      const rivalPrices = rivals.find((rival) => rival.country === code && rival.currency === currency)
      const stands = {
        ...priceOf(now),
        ...nextPriceOf(prices, next),
        ...compared(now, us),
        rivals: rivalsOf(rivalPrices),
      }
      return [{ country: code, currency, ...stands }]
    })
}

function priceOf(now: PriceEntry | null) {
  return {
    price: now?.price ?? null,
    proceeds: now?.proceeds ?? null,
    proceedsYear2: now?.proceedsYear2 ?? null,
    automatic: now?.automatic ?? null,
    startsAt: now?.startsAt ?? null,
  }
}

function nextPriceOf(prices: readonly PriceEntry[], next: PriceEntry | null) {
  return {
    upcoming: next && { price: next.price, startsAt: next.startsAt as string },
    preserved: prices.filter(({ preserved }) => preserved === true).length,
    applePrice: prices.find(({ apple }) => apple !== undefined)?.apple ?? null,
  }
}

function compared(now: PriceEntry | null, us: PriceEntry | null) {
  const [value, usValue] = [inDollars(now), inDollars(us)]
  const [bigMacs, usBigMacs] = [bigMacsOf(now), bigMacsOf(us)]
  return {
    usd: now && value !== null ? { value: rounded(value), ...rateOf(now.currency) } : null,
    index: indexOf(value, usValue),
    affordability: bigMacs === null ? null : { bigMacs: rounded(bigMacs), index: indexOf(bigMacs, usBigMacs) },
  }
}

function rivalsOf(rivalPrices: RivalPrices | undefined) {
  if (!rivalPrices || rivalPrices.prices.length < MIN_RIVALS) return null
  const { prices, free, seenAt } = rivalPrices
  return { median: medianOf(prices), count: prices.length, free, asOf: seenAt.toISOString() }
}

/** Rounds to two decimals. */
function medianOf(sorted: readonly number[]): string {
  const half = Math.floor(sorted.length / 2)
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
  return String(Math.round(median * 100) / 100)
}

function inDollars(entry: PriceEntry | null): number | null {
  const rate = entry && dollarRate(entry.currency)
  return entry === null || rate === null ? null : Number(entry.price) / rate
}

function bigMacsOf(entry: PriceEntry | null): number | null {
  return entry && bigMacsFor({ country: entry.country, currency: entry.currency, price: Number(entry.price) })
}

function rateOf(currency: string) {
  return { rate: dollarRate(currency) as number, rateDate: PRICE_LEVELS.asOf, rateSource: PRICE_LEVELS.name }
}

function indexOf(value: number | null, us: number | null): number | null {
  return value === null || us === null || us === 0 ? null : Math.round((value / us) * 100)
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
