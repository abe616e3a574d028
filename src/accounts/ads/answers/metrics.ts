import type { Db } from "../../../database/types.ts"
import { decimalSum } from "../../../sources/accounts/decimal.ts"
import type { Money } from "../../read-sales.ts"
import type { AdsScope } from "./standing.ts"

/** What something cost and brought. */
export interface AdsMetrics {
  impressions: number
  taps: number
  installs: number
  newDownloads: number
  spend: Money
  /** Taps by impressions; null = none. */
  ttr: number | null
  /** By taps, and by installs; null = none. */
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

/** Sums of a table of facts, as columns of a MetricsRow. */
export function summedMetrics(sql: Db) {
  const spend = sql`coalesce(sum(f.spend), 0)`
  return sql`
    coalesce(sum(f.impressions), 0)::int as impressions, coalesce(sum(f.taps), 0)::int as taps,
    coalesce(sum(f.installs), 0)::int as installs, coalesce(sum(f.new_downloads), 0)::int as "newDownloads",
    trim_scale(${spend})::text as spend, trim_scale(round(${spend} / nullif(sum(f.taps), 0), 4))::text as cpt,
    trim_scale(round(${spend} / nullif(sum(f.installs), 0), 4))::text as cpi, max(f.currency) as currency`
}

/** Where nothing was spent, the account's currency stands. */
export function adsMetrics(row: MetricsRow, { currency }: Pick<AdsScope, "currency">): AdsMetrics {
  const { impressions, taps, installs, newDownloads } = row
  const money = (amount: string) => moneyOf(amount, row.currency ?? currency)
  return {
    ...{ impressions, taps, installs, newDownloads, spend: money(row.spend) },
    ttr: impressions > 0 ? Math.round((taps / impressions) * 10_000) / 10_000 : null,
    cpt: row.cpt === null ? null : money(row.cpt),
    cpi: row.cpi === null ? null : money(row.cpi),
  }
}

/** As money is shown everywhere: with two places at least where there are any. */
export function moneyOf(amount: string, currency: string | null): Money {
  return { amount: decimalSum([amount]), currency: currency ?? "USD" }
}

/** Where there is nothing. */
export const NO_METRICS: MetricsRow = {
  ...{ impressions: 0, taps: 0, installs: 0, newDownloads: 0, spend: "0", cpt: null, cpi: null, currency: null },
}
