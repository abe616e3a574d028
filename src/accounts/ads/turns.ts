import type { Db, Sql, Tx } from "../../database/types.ts"
import { later } from "../../leases/timers.ts"
import { growingGap } from "../failed-question.ts"

/** In the order in which they are asked when several are due. */
export const ADS_TASKS = ["campaigns", "changes", "keywords", "days", "terms", "popularity"] as const
export type AdsTask = (typeof ADS_TASKS)[number]

export interface AdsTurn {
  task: AdsTask
  /** The campaign or the country; of the account itself nothing. */
  subject: string
  wasRead: boolean
}

/** What a task needs. */
const RIGHT: Record<AdsTask, string> = {
  campaigns: "campaigns",
  changes: "changes",
  keywords: "campaigns",
  days: "reports",
  terms: "reports",
  popularity: "popularity",
}

/**
 * Makes due what is not asked for yet: the account itself, each of its campaigns, and the popularity in each storefront that an
 * App Store app of the workspace is tracked in, be it advertised or not. Of campaigns that are gone nothing is asked any more.
 */
export async function makeAdsTurns(sql: Sql, account: string): Promise<void> {
  await sql`
    delete from ads_turn t
    where t.account_id = ${account} and t.task in ('keywords', 'days', 'terms') and not exists (
      select from ads_campaign c where c.account_id = t.account_id and c.campaign = t.subject
    )`
  await sql`
    insert into ads_turn (account_id, task, subject)
    select ${account}, task, subject
    from (
      select task, '' as subject
      from unnest(array['campaigns', 'changes']) task
      union
      select task, c.campaign
      from ads_campaign c
      cross join unnest(array['keywords', 'days', 'terms']) task
      where c.account_id = ${account}
      union
      select 'popularity', country
      from connected_account c
      join tracked_app t on t.workspace_id = c.workspace_id
      cross join unnest(t.countries) country
      where c.id = ${account} and t.ios_app is not null
    ) wanted
    order by task, subject
    on conflict (account_id, task, subject) do nothing`
}

/** Null = nothing is due that may be asked for. */
export async function readNextAdsTurn(sql: Sql, account: string): Promise<AdsTurn | null> {
  const [turn] = await sql<AdsTurn[]>`
    select t.task, t.subject, t.read_at is not null as "wasRead"
    from ads_turn t
    join unnest(${[...ADS_TASKS]}::text[], ${ADS_TASKS.map((task) => RIGHT[task])}::text[]) with ordinality
      w (task, needs, place) on w.task = t.task
    where t.account_id = ${account} and t.next_at <= now() and not exists (
      select from account_right r where r.account_id = t.account_id and r.name = w.needs and r.state = 'denied'
    )
    order by w.place, t.next_at, t.subject
    limit 1`
  return turn ?? null
}

/** Stores the outcome of an answered task. */
export async function endAdsTurn(
  tx: Tx | Sql,
  account: string,
  { task, subject }: AdsTurn,
  { nextMs, putAside }: { nextMs: number; putAside: string | null },
): Promise<void> {
  await tx`
    update ads_turn
    set read_at = now(), tries = 0, failure = null, put_aside = ${putAside}, next_at = ${later(tx, nextMs)}
    where account_id = ${account} and task = ${task} and subject = ${subject}`
}

/** It is asked again at growing gaps; every hour if it is late. */
export async function failAdsTurn(
  sql: Sql,
  account: string,
  { task, subject }: AdsTurn,
  { message, isLate }: { message: string; isLate: boolean },
): Promise<void> {
  await sql`
    update ads_turn
    set tries = tries + 1, failure = ${message},
      next_at = case when ${isLate} then now() + interval '1 hour' else ${growingGap(sql)} end
    where account_id = ${account} and task = ${task} and subject = ${subject}`
}

interface AdAccountMoney {
  zone: string
  currency: string | null
}

/** As the last look at the account showed them; UTC where none did. */
export async function readZone(sql: Db, account: string): Promise<AdAccountMoney> {
  const [row] = await sql<AdAccountMoney[]>`
    select coalesce(zone, 'UTC') as zone, currency
    from connected_account
    where id = ${account}`
  return row ?? { zone: "UTC", currency: null }
}
