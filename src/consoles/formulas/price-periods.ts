/** A price of a product in a storefront, as the console has it written down. */
export interface PriceEntry {
  country: string
  currency: string
  /** Decimal text, as printed. */
  price: string
  proceeds: string
  proceedsYear2?: string | undefined
  /** The console's id of the price point. */
  point: string
  /** Apple derives it from another storefront's. */
  automatic?: boolean | undefined
  /** The day from which it counts; undefined = it has always. */
  startsAt?: string | undefined
  /** The first day on which it counts no more. */
  endsAt?: string | undefined
  /** Those who pay it keep it, and nobody new gets it. */
  preserved?: boolean | undefined
  plan?: string | undefined
  /** What Apple would have this storefront pay, by the price in the United States. */
  apple?: string | undefined
}

/** What was written down on a day. */
interface PriceDay {
  day: string
  entries: readonly PriceEntry[]
}

/** From a day on; the last that has begun is in force. */
interface PricePeriod {
  country: string
  from: string
  /** False: it is at least so old. */
  sinceKnown: boolean
  /** Null = not sold there any more. */
  entry: PriceEntry | null
}

/**
 * How prices followed on one another, by country and day. What is written down counts from the day that it names, or else from the
 * day on which it was first seen.
 */
export function pricePeriods(days: readonly PriceDay[]): PricePeriod[] {
  const sorted = days.toSorted((a, b) => (a.day < b.day ? -1 : 1))
  const countries = [...new Set(sorted.flatMap(({ entries }) => entries.map(({ country }) => country)))].sort()
  return countries.flatMap((country) => periodsOf(country, sorted))
}

function periodsOf(country: string, days: readonly PriceDay[]): PricePeriod[] {
  const periods: PricePeriod[] = []
  for (const [place, { day, entries }] of days.entries()) {
    const own = entries.filter((entry) => entry.country === country && isNewcomers(entry))
    const next = days[place + 1]?.day
    const starts = [...new Set([day, ...own.flatMap(({ startsAt, endsAt }) => [startsAt ?? day, endsAt ?? day])])]
    for (const from of starts.filter((at) => at >= day && (next === undefined || at < next)).sort())
      add(periods, country, from, entryInForce(own, from), from === day)
  }
  return periods
}

/** What was first seen on that day may count for longer: from the day that it names, if that is known. */
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
  const said = entry?.startsAt
  const begins = isSeenThen && said !== undefined && said < from && (!last || last.from < said) ? said : from
  periods.push({ country, from: begins, sinceKnown: said === begins, entry })
}

/** What a new customer pays on a day: the latest that has begun. */
export function entryInForce(entries: readonly PriceEntry[], day: string): PriceEntry | null {
  const begun = entries.filter(
    (entry) =>
      isNewcomers(entry) && (entry.startsAt ?? "") <= day && (entry.endsAt === undefined || day < entry.endsAt),
  )
  return begun.toSorted((a, b) => ((a.startsAt ?? "") < (b.startsAt ?? "") ? 1 : -1))[0] ?? null
}

/** The next that has not begun on that day. */
export function upcomingEntry(entries: readonly PriceEntry[], day: string): PriceEntry | null {
  const ahead = entries.filter((entry) => isNewcomers(entry) && (entry.startsAt ?? "") > day)
  return ahead.toSorted((a, b) => ((a.startsAt as string) < (b.startsAt as string) ? -1 : 1))[0] ?? null
}

/** Of monthly billing with a commitment of twelve months the price is another product's in all but name: left out. */
function isNewcomers({ preserved, plan }: PriceEntry): boolean {
  return preserved !== true && plan !== "MONTHLY"
}

function isSamePrice(a: PriceEntry | null, b: PriceEntry | null): boolean {
  if (a === null || b === null) return a === b
  return (["currency", "price", "proceeds", "proceedsYear2"] as const).every((name) => a[name] === b[name])
}
