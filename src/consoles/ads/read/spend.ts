import type { Db } from "../../../database/types.ts"
import type { Days } from "../../../lib/days.ts"
import type { AppAccount, OwnApp } from "../../read/app-accounts.ts"
import { findAdsAccount } from "./standing.ts"

export interface AdsDaySum {
  day: string
  spend: number
  /** Downloads after taps and views of ads, by people who never had the app before. */
  newDownloads: number
}

interface DailySpend {
  account: AppAccount
  zone: string
  /** Null if the account's currency is unknown. */
  currency: string | null
  /**
   * Only days for which the figures of every campaign of the app are known, in order. The sums are floats, which is
   * precise enough for ratios.
   */
  days: AdsDaySum[]
}

/**
 * Returns the daily cost of an app's campaigns in these storefronts, by days in the account's time zone. Null if no ad
 * account has the app.
 */
export async function readDailySpend(
  sql: Db,
  { workspaceId, app }: { workspaceId: number; app: OwnApp },
  { from, to, countries }: Days & { countries: readonly string[] },
): Promise<DailySpend | null> {
  const account = await findAdsAccount(sql, workspaceId, app, "days")
  if (!account) return null
  const { zone, currency } = account
  const days = await sql<AdsDaySum[]>`
    select d.day, coalesce(s.spend, 0)::float8 as spend, coalesce(s.new_downloads, 0)::int as "newDownloads"
    from (
      select g::date as day
      from generate_series(${from}::date, ${to}::date, interval '1 day') g
    ) d
    cross join lateral (
      select sum(f.spend) as spend, sum(f.new_downloads) as new_downloads
      from ads_campaign c
      join ads_day_fact f on f.account_id = c.account_id and f.campaign = c.campaign and f.day = d.day
      where c.account_id = ${account.id} and c.app = ${account.outsideId} and f.keyword is null
        and f.country = any(${countries as string[]}::text[])
    ) s
    where not exists (
      select
      from ads_campaign c
      where c.account_id = ${account.id} and c.app = ${account.outsideId} and not exists (
        select
        from ads_report r
        where r.account_id = ${account.id} and r.report = 'ads_days' and r.about = c.campaign and r.day = d.day
      )
    )
    order by d.day
    limit 1000`
  return { account, zone, currency, days }
}
