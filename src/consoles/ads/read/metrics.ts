import type { Fragment } from "postgres"
import type { Db } from "../../../database/types.ts"
import type { Money } from "../../read/read-sales.ts"
import { decimalSum } from "../../sources/decimal.ts"
import type { AdsScope } from "./standing.ts"

/** The costs and results of advertising. */
export interface AdsMetrics {
  impressions: number
  taps: number
  installs: number
  newDownloads: number
  spend: Money
  /** Taps divided by impressions. Null without impressions. */
  ttr: number | null
  /** Spend divided by taps, and by installs. Null if the divisor is zero. */
  cpt: Money | null
  cpi: Money | null
}

export interface MetricsRow {
  impressions: number
  taps: number
  installs: number
  newDownloads: number
  spend: string
  cpt: string | null
  cpi: string | null
  currency: string | null
}

/** SQL: sums of a table of facts, as columns of a MetricsRow. */
function summedMetrics(sql: Db) {
  return sql`
    coalesce(sum(f.impressions), 0)::int as impressions, coalesce(sum(f.taps), 0)::int as taps,
    coalesce(sum(f.installs), 0)::int as installs, coalesce(sum(f.new_downloads), 0)::int as "newDownloads",
    trim_scale(coalesce(sum(f.spend), 0))::text as spend,
    trim_scale(round(coalesce(sum(f.spend), 0) / nullif(sum(f.taps), 0), 4))::text as cpt,
    trim_scale(round(coalesce(sum(f.spend), 0) / nullif(sum(f.installs), 0), 4))::text as cpi,
      max(f.currency) as currency`
}

/** SQL: the columns of summedMetrics, read from a row `k` that has such sums. 0 if the row is missing. */
export function metricsColumns(sql: Db) {
  return sql`
    coalesce(k.impressions, 0)::int as impressions, coalesce(k.taps, 0)::int as taps,
    coalesce(k.installs, 0)::int as installs,
    coalesce(k.new_downloads, 0)::int as "newDownloads", trim_scale(coalesce(k.spend, 0))::text as spend,
    trim_scale(round(coalesce(k.spend, 0) / nullif(k.taps, 0), 4))::text as cpt,
    trim_scale(round(coalesce(k.spend, 0) / nullif(k.installs, 0), 4))::text as cpi, k.currency`
}

/** SQL: one JSON value with the sums of summedMetrics over all rows of `f`. */
export function summedAsJson(sql: Db, f: Fragment, more = sql``) {
  return sql`(select to_json(a) from (select ${summedMetrics(sql)}${more} from ${f} f) a)`
}

/** Converts the sums to metrics. If nothing was spent, the sums have no currency, so the account's currency is used. */
export function adsMetrics(row: MetricsRow, { currency }: Pick<AdsScope, "currency">): AdsMetrics {
  const { impressions, taps, installs, newDownloads } = row
  const money = (amount: string) => moneyOf(amount, row.currency ?? currency)
  return {
    impressions,
    taps,
    installs,
    newDownloads,
    spend: money(row.spend),
    ttr: impressions > 0 ? Math.round((taps / impressions) * 10_000) / 10_000 : null,
    cpt: row.cpt === null ? null : money(row.cpt),
    cpi: row.cpi === null ? null : money(row.cpi),
  }
}

/** Formats an amount. An amount with decimals gets at least two. */
export function moneyOf(amount: string, currency: string | null): Money {
  return { amount: decimalSum([amount]), currency: currency ?? "USD" }
}
