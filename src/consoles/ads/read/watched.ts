import type { Db, Sql } from "../../../database/types.ts"
import type { AccountState } from "../../state.ts"

/** A tracked app in an ad account in which another program made a change. */
export interface ChangedAdsApp {
  workspaceId: number
  appId: string
  account: string
  /** The store's id of the app. */
  app: string
  /** Time when the account's changes were last read. */
  readAt: Date | null
}

/**
 * Returns the tracked apps in ad accounts in which a program made a change after `since` and after the account was
 * connected. Leaves out accounts without a key, and demo apps.
 */
export async function findChangedApps(sql: Sql, since: Date): Promise<ChangedAdsApp[]> {
  return await sql<ChangedAdsApp[]>`
    select t.workspace_id as "workspaceId", t.id as "appId", c.id as account, a.outside_id as app, (
      select read_at
      from account_task
      where account_id = c.id and task = 'changes' and subject = ''
    ) as "readAt"
    from connected_account c
    join account_app a on a.account_id = c.id
    join tracked_app t on t.workspace_id = c.workspace_id and t.origin = 'own' and (
      t.id = a.app_id or (
        a.app_id is null and not a.by_hand
        and exists (select from store_app s where s.id = t.ios_app and s.store_id = a.outside_id)
      )
    )
    where c.kind = 'apple-ads' and c.sealed is not null and exists (
      select
      from ads_change_fact f
      join ads_campaign k on k.account_id = f.account_id and k.campaign = f.campaign
      where f.account_id = c.id and f.day >= ${since}::date and f.at >= greatest(${since}, c.created_at)
        and f.changed_by = 'api'
        and k.app = a.outside_id
    )
    order by t.workspace_id, t.id, c.id`
}

/** Returns the account's campaign names by id, and the time when it was connected. */
export async function readCampaignNames(
  sql: Db,
  account: string,
): Promise<{ connectedAt: Date; names: Map<string, string> }> {
  const rows = await sql<{ connectedAt: Date; campaign: string | null; name: string }[]>`
    select c.created_at as "connectedAt", k.campaign, coalesce(k.name, '') as name
    from connected_account c
    left join ads_campaign k on k.account_id = c.id
    where c.id = ${account}
    order by k.campaign`
  const named = rows.flatMap(({ campaign, name }) => (campaign === null ? [] : [[campaign, name] as const]))
  return { connectedAt: rows[0]?.connectedAt ?? new Date(), names: new Map(named) }
}

/** The status of a workspace's ad account, for alert rules that need the account's changes. */
export interface AdsWatch {
  id: string
  state: AccountState
  /** The action that a person must take. Null if there is none. */
  why: string | null
}

/** Null if no ad account is connected. */
export async function readAdsWatch(sql: Db, workspaceId: number): Promise<AdsWatch | null> {
  const [account] = await sql<AdsWatch[]>`
    select c.id, c.state, coalesce(c.why, (
      select r.why
      from account_right r
      where r.account_id = c.id and r.name = 'changes' and r.state = 'denied'
    )) as why
    from connected_account c
    where c.workspace_id = ${workspaceId} and c.kind = 'apple-ads' and c.state <> 'demo'
    order by c.sealed is null, c.created_at, c.id
    limit 1`
  return account ?? null
}
