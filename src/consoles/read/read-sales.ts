import type { Db } from "../../database/types.ts"
import { BUNDLE_TYPES } from "../formulas/sold-things.ts"
import { decimal, millionths } from "../sources/decimal.ts"
import type { AppAccount, ReportQuery } from "./app-accounts.ts"

/** Decimal text; amounts in different currencies are never summed. */
export interface Money {
  amount: string
  currency: string
}

interface SoldUnits {
  downloads: number
  redownloads: number
  updates: number
  purchases: number
  subscriptions: number
  other: number
  refunds: number
}

export interface Sold extends SoldUnits {
  /** The customers' payments minus refunds, largest first. */
  gross: Money[]
  /** The seller's share of the payments, as the report estimates it. */
  proceeds: Money[]
}

interface SoldProduct extends Sold {
  product: string
  title: string
}

interface Sales {
  total: Sold
  /** Sales by day; only days with sales. */
  days: Map<string, Sold>
  countries: Map<string, Sold>
  products: SoldProduct[]
}

interface FactRow {
  cut: keyof typeof CUTS
  name: string | null
  title: string | null
  currency: string | null
  proceedsCurrency: string | null
  /** Null if the day has no sales. */
  downloads: number | null
  redownloads: number | null
  updates: number | null
  purchases: number | null
  subscriptions: number | null
  other: number | null
  refunds: number
  gross: string
  proceeds: string
}

/** Maps `grouping(day, country, product)` to the column that the row is grouped by. */
const CUTS = { 7: "total", 3: "day", 5: "country", 6: "product" } as const

/** Returns an app's sales in total, by day, by country and by product. Uses one pass over the facts. */
export async function readSales(sql: Db, { id, sku }: AppAccount, { from, to, country }: ReportQuery): Promise<Sales> {
  const rows = await sql<FactRow[]>`
    select grouping(day, country, product) as cut, coalesce(day::text, country, product) as name, max(title) as title,
      currency, proceeds_currency as "proceedsCurrency", ${soldColumns(sql)}
    from sales_fact
    where account_id = ${id} and app = ${sku} and day between ${from} and ${to}
      and (${country}::text is null or country = ${country})
    group by grouping sets (
      (currency, proceeds_currency), (day, currency, proceeds_currency), (country, currency, proceeds_currency),
      (product, counts_as, currency, proceeds_currency)
    )
    order by cut, name, counts_as, currency, proceeds_currency`
  const by = Map.groupBy(rows, ({ cut }) => CUTS[cut])
  const named = (cut: (typeof CUTS)[keyof typeof CUTS]) => Map.groupBy(by.get(cut) ?? [], ({ name }) => name as string)
  const summed = (cut: "day" | "country") => new Map([...named(cut)].map(([name, of]) => [name, soldIn(of)]))
  return {
    total: soldIn(by.get("total") ?? []),
    days: summed("day"),
    countries: summed("country"),
    products: productsIn(by.get("product") ?? []),
  }
}

function soldColumns(sql: Db) {
  return sql`
      sum(units) filter (where counts_as = 'download')::int as downloads,
      sum(units) filter (where counts_as = 'redownload')::int as redownloads,
      sum(units) filter (where counts_as = 'update')::int as updates,
      sum(units) filter (where counts_as = 'purchase')::int as purchases,
      sum(units) filter (where counts_as = 'subscription')::int as subscriptions,
      sum(units) filter (where counts_as = 'other')::int as other, sum(refunds)::int as refunds,
      sum(gross)::text as gross, sum(proceeds)::text as proceeds`
}

const MAX_BUNDLES = 50

/** Returns the app bundles that an account sold, most downloads first. They belong to none of the account's apps. */
export async function readBundles(
  sql: Db,
  account: string,
  { from, to, country }: ReportQuery,
): Promise<SoldProduct[]> {
  const rows = await sql<(FactRow & { lastDay: string })[]>`
    select 6 as cut, product as name, max(title) as title, max(day)::text as "lastDay", currency,
      proceeds_currency as "proceedsCurrency", ${soldColumns(sql)}
    from sales_fact f
    where account_id = ${account} and day between ${from} and ${to}
      and (${country}::text is null or country = ${country})
      and not exists (select from account_app a where a.account_id = f.account_id and a.sku = f.app)
    group by product, currency, proceeds_currency
    order by product, currency, proceeds_currency`
  if (rows.length === 0) return []
  const days = [...new Set(rows.map(({ lastDay }) => lastDay))]
  const named = await sql<{ product: string }[]>`
    select distinct r.row ->> 'product' as product
    from report_day d
    cross join lateral said_rows(d.rows, d.pieces) r (row, place)
    where d.account_id = ${account} and d.report = 'sales' and d.day = any(${days}::date[])
      and r.row ->> 'type' = any(${BUNDLE_TYPES}::text[])
    order by 1`
  const bundles = new Set(named.map(({ product }) => product))
  return productsIn(rows)
    .filter(({ product }) => bundles.has(product))
    .sort((a, b) => b.downloads - a.downloads || (a.product < b.product ? -1 : 1))
    .slice(0, MAX_BUNDLES)
}

function productsIn(rows: readonly FactRow[]): SoldProduct[] {
  return [...Map.groupBy(rows, ({ name }) => name as string)].map(([product, of]) => {
    return { product, title: of.find(({ title }) => title)?.title ?? product, ...soldIn(of) }
  })
}

/** Sums the rows. Without rows the result is zero, because a reported day without rows had no sales. */
export function soldIn(rows: readonly FactRow[]): Sold {
  const units = { downloads: 0, redownloads: 0, updates: 0, purchases: 0, subscriptions: 0, other: 0, refunds: 0 }
  const [gross, proceeds] = [new Map<string, bigint>(), new Map<string, bigint>()]
  for (const row of rows) {
    for (const name of UNITS) units[name] += row[name] ?? 0
    add(gross, row.currency as string, row.gross)
    add(proceeds, row.proceedsCurrency as string, row.proceeds)
  }
  return { ...units, gross: moneyIn(gross), proceeds: moneyIn(proceeds) }
}

const UNITS = ["downloads", "redownloads", "updates", "purchases", "subscriptions", "other", "refunds"] as const

function add(sums: Map<string, bigint>, currency: string, amount: string): void {
  sums.set(currency, (sums.get(currency) ?? 0n) + millionths(amount))
}

/** Removes currencies with a zero sum, because free products appear in every currency. */
function moneyIn(sums: ReadonlyMap<string, bigint>): Money[] {
  return [...sums]
    .filter(([, sum]) => sum !== 0n)
    .sort(([a, one], [b, other]) => (one === other ? (a < b ? -1 : 1) : one > other ? -1 : 1))
    .map(([currency, sum]) => ({ currency, amount: decimal(sum) }))
}

/** A day whose report was restated later. */
interface Restatement {
  day: string
  /** Time when the new report was first seen. */
  seenAt: Date
  unitsBefore: number
  units: number
}

const MAX_RESTATEMENTS = 50

/** Returns the days whose installs or settled units on Google Play changed in a later file, newest first. */
export async function readPlayRestatements(
  sql: Db,
  { id, outsideId }: AppAccount,
  { from, to, country }: ReportQuery,
): Promise<(Restatement & { report: "play_installs" | "play_earnings" })[]> {
  const installs = country === null ? "play_installs" : "play_installs_country"
  return await sql<(Restatement & { report: "play_installs" | "play_earnings" })[]>`
    with said as (
      select d.report, d.day, d.seen_at, u.units,
        lag(u.units) over (partition by d.report, d.day order by d.seen_at, d.parser, d.sha256) as before
      from report_day d
      cross join lateral (
        select case when d.report = 'play_earnings' then coalesce(sum((r.row ->> 'units')::int), 0)::int
          else sum((r.row ->> 'userInstalls')::int)::int end as units
        from said_rows(d.rows, d.pieces) r (row, place)
        where (d.about <> '' or r.row ->> 'app' = ${outsideId})
          and (${country}::text is null or r.row ->> 'country' = ${country})
      ) u
      where d.account_id = ${id} and d.day between ${from} and ${to}
        and (d.report = 'play_earnings' and d.about = '' or d.report = ${installs} and d.about = ${outsideId})
        and (
          select count(*)
          from report_day o
          where o.account_id = d.account_id and o.report = d.report and o.about = d.about and o.day = d.day
        ) > 1
    )
    select case report when 'play_earnings' then report else 'play_installs' end as report, day, seen_at as "seenAt",
      before as "unitsBefore", units
    from said
    where before is not null and before <> units
    order by seen_at desc, day desc, report
    limit ${MAX_RESTATEMENTS}`
}

/**
 * Returns the days whose report changed, newest first, with the app's units before and after. Changes that do not
 * affect the units are left out.
 */
export async function readRestatements(
  sql: Db,
  { id, sku }: AppAccount,
  { from, to, country }: ReportQuery,
): Promise<Restatement[]> {
  return await sql<Restatement[]>`
    with restated as materialized (
      select day
      from report_day
      where account_id = ${id} and report = 'sales' and day between ${from} and ${to}
      group by day
      having count(*) > 1
    ), said as (
      select d.day, d.seen_at, u.units,
        lag(u.units) over (partition by d.day order by d.seen_at, d.parser, d.sha256) as before
      from restated
      join report_day d on d.account_id = ${id} and d.report = 'sales' and d.day = restated.day
      cross join lateral (
        select coalesce(sum(c.units), 0)::int as units
        from (
          select e.key as country, e.value::int as units
          from jsonb_each_text(d.units -> ${sku}) e
          union all
          select r.row ->> 'country', (r.row ->> 'units')::int
          from said_rows(case when d.units is null then d.rows end, case when d.units is null then d.pieces end) r (row,
            place)
          where r.row ->> 'app' = ${sku}
        ) c
        where ${country}::text is null or c.country = ${country}
      ) u
    )
    select day, seen_at as "seenAt", before as "unitsBefore", units
    from said
    where before is not null and before <> units
    order by seen_at desc, day desc
    limit ${MAX_RESTATEMENTS}`
}
