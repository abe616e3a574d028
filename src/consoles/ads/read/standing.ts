import type { Fragment } from "postgres"
import type { Db } from "../../../database/types.ts"
import { type AppAccount, findAppAccount, type OwnApp } from "../../read/app-accounts.ts"
import type { AdsTask } from "../../tasks.ts"
import { type AdsTrouble, adsTroubles } from "../../troubles.ts"
import { adsWindow } from "../days.ts"

/** The ad account that advertises an app. */
export interface AdsAccount extends AppAccount {
  zone: string
  /** Null if unknown. */
  currency: string | null
  /** Time of the last successful task about the account as a whole. Null if there was none. */
  readAt: Date | null
  /** Failed requests about the account itself and about the app's campaigns. */
  troubles: AdsTrouble[]
}

export async function findAdsAccount(
  sql: Db,
  workspaceId: number,
  app: OwnApp,
  task: AdsTask,
): Promise<AdsAccount | null> {
  const more = sql`, coalesce(c.zone, 'UTC') as zone, c.currency, (
      select t.read_at
      from account_task t
      where t.account_id = c.id and t.task = ${task} and t.subject = ''
    ) as "readAt", ${adsTroubles(sql)} as troubles`
  return await findAppAccount<AdsAccount>(sql, { workspaceId, kind: "apple-ads" }, app, more)
}

/** The scope of a query: the app's campaigns in one ad account, over the last 28 days in the account's time zone. */
export interface AdsScope {
  account: string
  /** The store's id of the app. */
  app: string
  zone: string
  currency: string | null
  from: string
  to: string
  /** Campaign id. Null for all. */
  country: string | null
  campaign: string | null
}

export function adsScope(
  { id, outsideId, zone, currency }: AdsAccount,
  { country, campaign }: Pick<AdsScope, "country" | "campaign">,
  now: Date,
): AdsScope {
  return { account: id, app: outsideId, zone, currency, ...adsWindow(zone, now), country, campaign }
}

/** How completely an ad account was read. */
export interface AdsStanding {
  /** Each campaign has a latest read; this is the earliest of these times. Null if a campaign was never read. */
  asOf: Date | null
  /** Days of the period for which the figures of every campaign are known, in order. */
  reported: string[]
  /** The remaining days of the period. */
  late: string[]
}

/** SQL: the common table expression `own` with the campaigns of the scope. */
export function ownCampaigns(sql: Db, { account, app, campaign }: AdsScope): Fragment {
  return sql`
    own as materialized (
      select c.campaign, c.name
      from ads_campaign c
      where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})
    )`
}

/** SQL: one row, an AdsStanding, over the days of the campaigns in `own`. */
export function standingOfDays(sql: Db, scope: AdsScope): Fragment {
  const { account, from, to } = scope
  return sql`(
    select ${ownReadAt(sql, scope, "days")} as "asOf",
      coalesce(array_agg(k.day order by k.day) filter (where k.is_known), '{}') as reported,
      coalesce(array_agg(k.day order by k.day) filter (where not k.is_known), '{}') as late
    from (
      select g::date::text as day, not exists (
        select
        from own o
        where not exists (
          select
          from ads_report r
          where r.account_id = ${account} and r.report = 'ads_days' and r.about = o.campaign and r.day = g::date
        )
      ) as is_known
      from generate_series(${from}::date, ${to}::date, interval '1 day') g
      -- Prevents the planner from inlining the subquery, which would look up each day for both columns.
      offset 0
    ) k
  )`
}

/**
 * SQL: each campaign in `own` has a latest read by this task; this is the earliest of these times. Null if a campaign
 * was never read.
 */
export function ownReadAt(sql: Db, { account }: AdsScope, task: AdsTask): Fragment {
  return sql`(
      select case when bool_and(t.read_at is not null) then min(t.read_at) end
      from own o
      left join account_task t on t.account_id = ${account} and t.task = ${task} and t.subject = o.campaign
    )`
}
