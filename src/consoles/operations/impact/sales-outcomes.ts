import type { Db, Sql } from "../../../database/types.ts"
import { addDays } from "../../../lib/days.ts"
import type { DailyFigures } from "../../impact/series.ts"
import { pacificDay } from "../../pacific.ts"
import type { AppAccount, ReportStanding } from "../../read/app-accounts.ts"
import type { ChangedPage } from "./changed-day.ts"
import { inSpan, type OutcomeFigures, type OutcomeSpan, spanAround } from "./outcome.ts"

/** Number of days after which a day's report is mostly complete. */
const SETTLED_DAYS = 4

/** Returns the days for which the console's figures are needed. */
export function salesSpan({ notYetAt, at, ownDays }: ChangedPage, window: number): OutcomeSpan {
  const leftOut = { from: pacificDay(notYetAt), to: pacificDay(at) }
  return spanAround("America/Los_Angeles", leftOut, { window, ownDays })
}

/**
 * Compares the downloads, and the proceeds per download, of storefronts whose page changed with those of the other
 * storefronts.
 */
export async function readSalesOutcomes(
  sql: Sql,
  account: AppAccount,
  { changed, span, standing, now }: { changed: ChangedPage; span: OutcomeSpan; standing: ReportStanding; now: Date },
): Promise<OutcomeFigures[]> {
  const countries = [...changed.treated, ...changed.unchanged]
  const rows = await readCountryDays(sql, account, { from: span.first, to: span.after.to, countries })
  const reported = new Set(standing.reported)
  const byCountry = Map.groupBy(rows, ({ country }) => country)
  const sold = (country: string) => soldBy(country, byCountry.get(country) ?? [], span, reported)
  const [treated, unchanged] = [changed.treated.map(sold), changed.unchanged.map(sold)]
  const afterDays = inSpan(span, (day) => (day < span.after.from || reported.has(day) ? 1 : 0))
  const isOver = span.after.to < pacificDay(now)
  const isSettled = addDays(span.after.to, SETTLED_DAYS) <= pacificDay(now)
  const isComplete = isOver && (isSettled || afterDays.every((share) => share === 1))
  const shared = { better: "higher" as const, treated: changed.treated, country: null, span, isComplete }
  return [
    {
      outcome: "downloads",
      ...shared,
      comparison: {
        scale: "counts",
        treated: [together(changed.treated.join(" "), treated, span)],
        controls: unchanged.map(({ per: _, ...one }) => ({ ...one, values: one.downloads })),
      },
    },
    {
      outcome: "proceeds_per_download",
      ...shared,
      comparison: { scale: "counts", treated: treated.map(perDownload), controls: unchanged.map(perDownload) },
    },
  ]
}

/** Returns a storefront's proceeds by day, with its downloads as the denominator. */
export interface SoldBy extends DailyFigures {
  downloads: (number | null)[]
}

/** Uses only the proceeds in the most frequent currency. */
export function soldBy(
  name: string,
  rows: readonly CountryDay[],
  span: OutcomeSpan,
  reported: ReadonlySet<string>,
): SoldBy {
  const currency = mainCurrency(rows)
  const [downloads, proceeds] = [new Map<string, number>(), new Map<string, number>()]
  for (const row of rows) {
    downloads.set(row.day, (downloads.get(row.day) ?? 0) + row.downloads)
    if (row.currency === currency) proceeds.set(row.day, row.proceeds)
  }
  const perDay = (figures: Map<string, number>) => {
    return inSpan(span, (day) => (reported.has(day) ? (figures.get(day) ?? 0) : null))
  }
  const weight = [...downloads.values()].reduce((sum, count) => sum + count, 0)
  return { name, weight, values: perDay(proceeds), downloads: perDay(downloads) }
}

function mainCurrency(rows: readonly CountryDay[]): string | undefined {
  const paid = Map.groupBy(
    rows.filter(({ proceeds }) => proceeds !== 0),
    ({ currency }) => currency,
  )
  return [...paid].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))[0]?.[0]
}

export function perDownload({ downloads, ...figures }: SoldBy): DailyFigures {
  return { ...figures, per: downloads }
}

/**
 * Returns the daily sum over all storefronts. The sum is unknown if one storefront is unknown, because the reports of
 * all storefronts arrive together.
 */
export function together(name: string, all: readonly SoldBy[], span: OutcomeSpan): DailyFigures {
  const values = inSpan(span, (_, place) => {
    if (all.some(({ downloads }) => downloads[place] === null)) return null
    return all.reduce((sum, { downloads }) => sum + (downloads[place] as number), 0)
  })
  return { name, weight: 1, values }
}

interface CountryDay {
  day: string
  country: string
  downloads: number
  /**
   * Returns the amount in `currency` as a float, which is precise enough for ratios. Exact sums are in read-sales.ts.
   */
  proceeds: number
  currency: string
}

/** Returns an app's sales by day, storefront and currency of proceeds. A reported day without rows had no sales. */
export async function readCountryDays(
  sql: Db,
  { id, sku }: AppAccount,
  { from, to, countries }: { from: string; to: string; countries: readonly string[] },
): Promise<CountryDay[]> {
  return await sql<CountryDay[]>`
    select day, country, coalesce(sum(units) filter (where counts_as = 'download'), 0)::int as downloads,
      sum(proceeds)::float8 as proceeds, proceeds_currency as currency
    from sales_fact
    where account_id = ${id} and app = ${sku} and day between ${from} and ${to}
      and country = any(${countries as string[]}::text[])
    group by day, country, proceeds_currency
    order by day, country, proceeds_currency`
}
