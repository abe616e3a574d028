/** A price of a product in a storefront, as the console lists it. */
export interface PriceEntry {
  country: string
  currency: string
  /** Decimal text as the console returns it. */
  price: string
  proceeds: string
  proceedsYear2?: string | undefined
  /** The console's id of the price point. */
  point: string
  /** Apple derives this price from another storefront's. */
  automatic?: boolean | undefined
  /** First day of the price. Omitted if it has always applied. */
  startsAt?: string | undefined
  /** First day on which the price no longer applies. */
  endsAt?: string | undefined
  /** Existing subscribers keep this price; new ones do not get it. */
  preserved?: boolean | undefined
  plan?: string | undefined
  /** The price in this storefront that Apple considers equivalent to the price in the United States. */
  apple?: string | undefined
}

/** The prices that were listed on a day. */
interface PriceDay {
  day: string
  entries: readonly PriceEntry[]
}

/** Begins on a day and applies until the next period begins. */
interface PricePeriod {
  country: string
  from: string
  /** False if the price may have begun before `from`. */
  sinceKnown: boolean
  /** Null if the product is no longer sold there. */
  entry: PriceEntry | null
}

/**
 * Returns the sequence of prices of each country. A listed price begins on the day that the console names, or otherwise
 * on the day when it was first seen.
 */
export function pricePeriods(days: readonly PriceDay[]): PricePeriod[] {
  const sorted = days.toSorted((a, b) => (a.day < b.day ? -1 : 1))
  const countries = [...new Set(sorted.flatMap(({ entries }) => entries.map(({ country }) => country)))].sort()
  return countries.flatMap((country) => periodsOf(country, sorted))
}

function periodsOf(country: string, days: readonly PriceDay[]): PricePeriod[] {
  const periods: PricePeriod[] = []
  for (const [place, { day, entries }] of days.entries()) {
    const countryEntries = entries.filter((entry) => entry.country === country && isNewcomers(entry))
    const next = days[place + 1]?.day
    const starts = [
      ...new Set([day, ...countryEntries.flatMap(({ startsAt, endsAt }) => [startsAt ?? day, endsAt ?? day])]),
    ]
    for (const from of starts.filter((at) => at >= day && (next === undefined || at < next)).sort())
      add(periods, country, from, entryInForce(countryEntries, from), from === day)
  }
  return periods
}

/**
 * Adds a period. A price that was first seen on a day may have begun earlier: on the start day that the console names,
 * if there is one.
 */
function add(
  periods: PricePeriod[],
  country: string,
  from: string,
  entry: PriceEntry | null,
  isSeenThen: boolean,
): void {
  const last = periods.at(-1)
  if (last === undefined && entry === null) return
  if (last && isSamePrice(last.entry, entry)) return
  const startsAt = entry?.startsAt
  const begins =
    isSeenThen && startsAt !== undefined && startsAt < from && (!last || last.from < startsAt) ? startsAt : from
  periods.push({ country, from: begins, sinceKnown: startsAt === begins, entry })
}

/** Returns the price for a new customer on a day: of the prices that have begun, the one that began last. */
export function entryInForce(entries: readonly PriceEntry[], day: string): PriceEntry | null {
  const begun = entries.filter(
    (entry) =>
      isNewcomers(entry) && (entry.startsAt ?? "") <= day && (entry.endsAt === undefined || day < entry.endsAt),
  )
  return begun.toSorted((a, b) => ((a.startsAt ?? "") < (b.startsAt ?? "") ? 1 : -1))[0] ?? null
}

/** Returns the next price that begins after the day. */
export function upcomingEntry(entries: readonly PriceEntry[], day: string): PriceEntry | null {
  const ahead = entries.filter((entry) => isNewcomers(entry) && (entry.startsAt ?? "") > day)
  return ahead.toSorted((a, b) => ((a.startsAt as string) < (b.startsAt as string) ? -1 : 1))[0] ?? null
}

/**
 * Returns true if new customers can get the price. False for preserved prices, and for prices of monthly billing with a
 * twelve-month commitment, which is in effect a separate product.
 */
function isNewcomers({ preserved, plan }: PriceEntry): boolean {
  return preserved !== true && plan !== "MONTHLY"
}

function isSamePrice(a: PriceEntry | null, b: PriceEntry | null): boolean {
  if (a === null || b === null) return a === b
  return (["currency", "price", "proceeds", "proceedsYear2"] as const).every((name) => a[name] === b[name])
}
