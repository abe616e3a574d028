import type { Db } from "../../../database/types.ts"
import type { AppAccount } from "../../app-accounts.ts"
import { adsWindow } from "../days.ts"
import { type AdsTask, readZone } from "../turns.ts"

/** What is asked about: the app's campaigns in one ad account, over the last 28 days of its zone. */
export interface AdsScope {
  account: string
  /** The store's id of the app. */
  app: string
  zone: string
  currency: string | null
  from: string
  to: string
  /** Null = all. */
  country: string | null
  campaign: string | null
}

export async function readAdsScope(
  sql: Db,
  { id, outsideId }: AppAccount,
  { country = null, campaign = null }: { country?: string | null; campaign?: string | null },
  now: Date,
): Promise<AdsScope> {
  const { zone, currency } = await readZone(sql, id)
  return { account: id, app: outsideId, zone, currency, ...adsWindow(zone, now), country, campaign }
}

/** How far an ad account was read. */
export interface AdsStanding {
  /** When what is read longest ago was read; null = some of it never was. */
  asOf: Date | null
  /** Days of the window on which every campaign is known, in order. */
  reported: string[]
  /** The others. */
  late: string[]
}

/** Of the days of an app's campaigns. */
export async function readAdsStanding(sql: Db, scope: AdsScope, task: AdsTask): Promise<AdsStanding> {
  const { account, app, from, to, campaign } = scope
  const days = await sql<{ day: string; isKnown: boolean }[]>`
    select d.day, not exists (
      select
      from ads_campaign c
      where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})
        and not exists (
          select
          from ads_report r
          where r.account_id = ${account} and r.report = 'ads_days' and r.about = c.campaign and r.day = d.day
        )
    ) as "isKnown"
    from (
      select g::date as day
      from generate_series(${from}::date, ${to}::date, interval '1 day') g
    ) d
    order by d.day
    limit 100`
  const [turns] = await sql<{ asOf: Date | null }[]>`
    select case when bool_and(t.read_at is not null) then min(t.read_at) end as "asOf"
    from ads_campaign c
    left join ads_turn t on t.account_id = c.account_id and t.task = ${task} and t.subject = c.campaign
    where c.account_id = ${account} and c.app = ${app} and (${campaign}::text is null or c.campaign = ${campaign})`
  const known = (isKnown: boolean) => days.filter((one) => one.isKnown === isKnown).map(({ day }) => day)
  return { asOf: turns?.asOf ?? null, reported: known(true), late: known(false) }
}

/** When a task of the account itself was last answered; null = never. */
export async function readAdsTurn(sql: Db, account: string, task: AdsTask, subject = ""): Promise<Date | null> {
  const [turn] = await sql<{ readAt: Date | null }[]>`
    select read_at as "readAt"
    from ads_turn
    where account_id = ${account} and task = ${task} and subject = ${subject}`
  return turn?.readAt ?? null
}
