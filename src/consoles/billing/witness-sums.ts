import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import type { CountedStore } from "../kinds/billing-shape.ts"
import { REPORT_ZONE } from "../pacific.ts"
import type { AppAccount } from "../read/app-accounts.ts"
import type { BillingAccount } from "./read-billing.ts"

/**
 * A service that reports the same purchases as the console. `wholeFrom` is the first of the console's days that its
 * messages cover completely.
 */
export interface Service extends BillingAccount {
  firstAt: Date
  wholeFrom: string
  /** The store whose console is compared. Purchases in other stores are left out. */
  store: CountedStore
}

/** SQL: the product as the console names it. On Google Play, services add a subscription's base plan after a colon. */
function soldProduct(sql: Db, store: CountedStore) {
  return store === "play_store" ? sql`split_part(product, ':', 1)` : sql`product`
}

export interface WitnessQuery extends Days {
  /** Null for all countries. */
  country: string | null
  /** Days that the console has reported. */
  reported: readonly string[]
}

/** Maps `grouping(product, day, country)` to the column that the row is grouped by. */
export const CUTS = { 3: "product", 5: "day", 6: "country" } as const
export type Cut = (typeof CUTS)[keyof typeof CUTS]

export interface SumRow {
  cut: keyof typeof CUTS
  name: string | null
  currency: string | null
  units: number
  refunds: number
  gross: string
  /** The part of the counts that is on days which the service's messages do not cover completely. */
  beforeUnits: number
  beforeGross: string
  /** The part of the counts that is on days which both sources cover. */
  wholeUnits: number
  wholeRefunds: number
  refunded: string
  free: number
}

export interface ServiceRow extends SumRow {
  /** Counts by the console's days. */
  dayUnits: number
  dayRefunds: number
  dayGross: string
  unreportedUnits: number
  unreportedGross: string
}

export async function readSold(
  sql: Db,
  { id, sku }: AppAccount,
  wholeFrom: string,
  { from, to, country }: WitnessQuery,
): Promise<SumRow[]> {
  const whole = sql`day >= ${wholeFrom}::date`
  // Rows that an older version derived have no columns for refunds and free units. Both are then computed from the row
  // where possible.
  const back = sql`coalesce(refunded, case when refunds = 0 then 0 when units = -refunds then -gross end)`
  const free = sql`coalesce(free_units, case when gross = 0 then units else 0 end)`
  return await sql<SumRow[]>`
    select grouping(product, day, country) as cut, coalesce(product, day::text, country) as name, currency,
      sum(units)::int as units, sum(refunds)::int as refunds, sum(gross)::text as gross,
      coalesce(sum(units) filter (where not ${whole}), 0)::int as "beforeUnits",
      coalesce(sum(gross) filter (where not ${whole}), 0)::text as "beforeGross",
      coalesce(sum(units) filter (where ${whole}), 0)::int as "wholeUnits",
      coalesce(sum(refunds) filter (where ${whole}), 0)::int as "wholeRefunds",
      coalesce(sum(${back}) filter (where ${whole}), 0)::text as refunded,
      coalesce(sum(${free}) filter (where ${whole}), 0)::int as free
    from sales_fact
    where account_id = ${id} and app = ${sku} and day between ${from} and ${to}
      and counts_as in ('purchase', 'subscription') and (${country}::text is null or country = ${country})
    group by grouping sets ((product, currency), (day), (country))
    order by cut, name, currency`
}

/** Counts production purchases in the service's store. One of the console's days can overlap two UTC days. */
export async function readServiceRows(
  sql: Db,
  { id, store, wholeFrom }: Service,
  { from, to, country, reported }: WitnessQuery,
): Promise<ServiceRow[]> {
  const [isOnUtcDay, isOnConsoleDay] = [sql`utc_day between ${from} and ${to}`, sql`day between ${from} and ${to}`]
  const isReported = sql`${isOnConsoleDay} and day = any(${reported as string[]}::date[])`
  const whole = sql`${isReported} and day >= ${wholeFrom}::date`
  return await sql<ServiceRow[]>`
    with told as materialized (
      select ${soldProduct(sql, store)} as product, currency, country, coalesce(price, 0) * quantity as price,
        price = 0 as is_free,
        case when counts_as = 'refund' then -quantity else quantity end as unit,
        case counts_as when 'refund' then quantity when 'refund_reversed' then -quantity else 0 end as refund,
        (happened_at at time zone 'utc')::date as utc_day, (happened_at at time zone ${REPORT_ZONE})::date as day
      from billing_event
      where account_id = ${id} and happened_at >= ${`${from}T00:00:00Z`}::timestamptz
        and happened_at < ${`${addDays(to, 2)}T00:00:00Z`}::timestamptz
        and environment = 'production' and store = ${store} and product is not null
        and counts_as in ('paid_start', 'trial_conversion', 'renewal', 'one_time', 'upgrade', 'refund',
          'refund_reversed')
        and (${country}::text is null or country = ${country})
    )
    select grouping(product, day, country) as cut, coalesce(product, day::text, country) as name, currency,
      coalesce(sum(unit) filter (where ${isOnUtcDay}), 0)::int as units,
      coalesce(sum(refund) filter (where ${isOnUtcDay}), 0)::int as refunds,
      coalesce(sum(price) filter (where ${isOnUtcDay}), 0)::text as gross,
      coalesce(sum(unit) filter (where ${isOnConsoleDay}), 0)::int as "dayUnits",
      coalesce(sum(refund) filter (where ${isOnConsoleDay}), 0)::int as "dayRefunds",
      coalesce(sum(price) filter (where ${isOnConsoleDay}), 0)::text as "dayGross",
      coalesce(sum(unit) filter (where ${isOnConsoleDay} and not day = any(${reported as string[]}::date[])), 0)::int
        as "unreportedUnits",
      coalesce(sum(price) filter (where ${isOnConsoleDay} and not day = any(${reported as string[]}::date[])), 0)::text
        as "unreportedGross",
      coalesce(sum(unit) filter (where ${isReported} and day < ${wholeFrom}::date), 0)::int as "beforeUnits",
      coalesce(sum(price) filter (where ${isReported} and day < ${wholeFrom}::date), 0)::text as "beforeGross",
      coalesce(sum(unit) filter (where ${whole}), 0)::int as "wholeUnits",
      coalesce(sum(refund) filter (where ${whole}), 0)::int as "wholeRefunds",
      coalesce(-sum(price) filter (where ${whole} and refund <> 0), 0)::text as refunded,
      coalesce(sum(unit) filter (where ${whole} and is_free and refund = 0), 0)::int as free
    from told
    where ${isOnUtcDay} or ${isOnConsoleDay}
    group by grouping sets ((product, currency), (day), (country))
    order by cut, name, currency`
}

/** Returns the products that any message of the service ever mentioned, in any country. */
export async function readEverSeen(sql: Db, { id, store }: Service, products: readonly string[]): Promise<Set<string>> {
  const isSame =
    store === "play_store"
      ? sql`store = 'play_store' and split_part(billing_event.product, ':', 1) = product.product`
      : sql`billing_event.product = product.product`
  const rows = await sql<{ product: string }[]>`
    select product
    from unnest(${products as string[]}::text[]) product
    where exists (
      select from billing_event where account_id = ${id} and ${isSame}
    )
    order by product`
  return new Set(rows.map(({ product }) => product))
}

export async function readSoldEver(
  sql: Db,
  { id, sku }: AppAccount,
  products: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ product: string }[]>`
    select product
    from unnest(${products as string[]}::text[]) product
    where exists (
      select from sales_fact where account_id = ${id} and app = ${sku} and sales_fact.product = product.product
    )
    order by product`
  return new Set(rows.map(({ product }) => product))
}
