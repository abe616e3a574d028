import type { Db } from "../../database/types.ts"
import type { AppAccount } from "./app-accounts.ts"

export interface CountryDay {
  day: string
  country: string
  downloads: number
  /** Amount in `currency`, as a float precise enough for ratios. Exact sums are in read-sales.ts. */
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
