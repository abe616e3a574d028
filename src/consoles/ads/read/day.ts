import type { Db } from "../../../database/types.ts"
import type { OwnApp } from "../../read/app-accounts.ts"
import { ownAccounts } from "../../read/read-day.ts"
import type { Money } from "../../read/read-sales.ts"
import { decimalSum } from "../../sources/decimal.ts"
import { moneyOf } from "./metrics.ts"

/** The cost of an app's campaigns on one day in their account's time zone. */
export interface AdsDay {
  /** Null if the day's figures are unknown for any of the app's campaigns. */
  spend: Money | null
  readAt: Date | null
  /** True if the figures are from the demo account. */
  isInvented: boolean
}

/** Returns the costs of the apps that have campaigns in an ad account of the workspace. Other apps are missing. */
export async function readAdsDays(
  sql: Db,
  workspaceId: number,
  apps: readonly OwnApp[],
  day: string,
): Promise<Map<string, AdsDay>> {
  const rows = await sql<
    {
      appId: string
      isKnown: boolean
      readAt: Date | null
      spend: string
      currency: string | null
      isInvented: boolean
    }[]
  >`
    with own as materialized (${ownAccounts(sql, { workspaceId, kind: "apple-ads" }, apps)})
    select o.app_id as "appId", o.currency, o.state = 'demo' as "isInvented", coalesce(k.is_known, false) as "isKnown",
      k.read_at as "readAt", (
      select coalesce(sum(f.spend), 0)::text
      from ads_campaign c
      join ads_day_fact f on f.account_id = c.account_id and f.campaign = c.campaign and f.day = ${day}
      where c.account_id = o.account_id and c.app = o.outside_id and f.keyword is null and f.ad_group is null
    ) as spend
    from own o
    left join lateral (
      select bool_and(r.seen_at is not null) as is_known, max(r.seen_at) as read_at
      from ads_campaign c
      left join lateral (
        select max(seen_at) as seen_at
        from ads_report
        where account_id = c.account_id and report = 'ads_days' and about = c.campaign and day = ${day}
      ) r on true
      where c.account_id = o.account_id and c.app = o.outside_id
    ) k on true
    order by o.app_id
    limit 1000`
  return new Map(
    rows.map(({ appId, isKnown, readAt, spend, currency, isInvented }) => [
      appId,
      { ...(isKnown ? { spend: moneyOf(spend, currency), readAt } : { spend: null, readAt: null }), isInvented },
    ]),
  )
}

/** Returns the exact sum of amounts in one currency. */
export const summedMoney = decimalSum
