import type { Db } from "../../../database/types.ts"

/** A change in an ad account: a write of this instance, an entry in the platform's history, or both merged. */
export interface AdsCommand {
  at: Date
  /**
   * service: a write of this instance; other_api: a change by another program; dashboard: by a person on Apple's
   * website.
   */
  by: "service" | "other_api" | "dashboard" | "apple" | "other"
  event: string | null
  entity: string
  entityId: string
  name: string | null
  campaign: string | null
  changes: { field: string; from: string | null; to: string | null }[]
  job: { id: string; action: string; status: string } | null
  /** True if the platform's own history contains it. */
  isListed: boolean
  /** Unique key by which the list is sorted. */
  key: string
}

interface CommandsQuery {
  workspaceId: number
  account: string
  /** The store's id of the app. */
  app: string
  appId: string
  limit: number
  /** The last entry of the previous page. Null for the first page. */
  after: { at: Date; key: string } | null
}

/** Maximum time by which the date of a history entry may precede the request of its write, because clocks differ. */
const BEFORE = "2 minutes"
/** Maximum time by which the date of a history entry may follow the request of its write. */
const AFTER = "15 minutes"

/**
 * Returns the changes, newest first. Merges a write with the history entry that it caused: the same entity, changed by
 * a program, during the request of the write. Each history entry belongs to at most one write, the closest in time.
 */
export async function readCommands(sql: Db, query: CommandsQuery, actions: readonly string[]): Promise<AdsCommand[]> {
  const { workspaceId, account, app, appId, limit, after } = query
  return await sql<AdsCommand[]>`
    with listed as materialized (
      select f.change, min(f.at) as at, min(f.changed_by) as changed_by, min(f.event) as event, min(f.entity) as entity,
        min(f.entity_id) as entity_id, min(f.name) as name, min(f.campaign) as campaign,
        jsonb_agg(jsonb_build_object('field', f.field, 'from', f.before, 'to', f.after) order by f.place) as changes
      from ads_campaign c
      join ads_change_fact f on f.account_id = c.account_id and f.campaign = c.campaign
      where c.account_id = ${account} and c.app = ${app}
      group by f.change
    ), own as materialized (
      select j.id, j.action, j.status, coalesce(j.sent_at, j.created_at) as at, j.shown -> 'target' as target, j.args,
        j.sent_at, coalesce(j.finished_at, j.sent_at) as until
      from job j
      where j.workspace_id = ${workspaceId} and j.app_id = ${appId} and j.action = any(${actions as string[]}::text[])
    ), matched as materialized (
      select distinct on (l.change) l.change, o.id as job_id
      from own o
      join listed l on l.changed_by = 'api' and l.at between o.sent_at - ${BEFORE}::interval
        and o.until + ${AFTER}::interval
        -- A new keyword has no id when the write is sent, so match it by its text.
        and case
          when o.args ? 'text' then l.event = 'CREATE' and lower(l.name) = lower(o.args ->> 'text')
          else l.entity_id = o.target ->> 'id'
        end
      where o.status in ('done', 'unknown', 'running')
      order by l.change, abs(extract(epoch from l.at - o.sent_at)), o.id
    ), entry as (
      select l.at, case
          when m.job_id is not null then 'service'
          when l.changed_by = 'api' then 'other_api'
          else l.changed_by
        end as by, l.event, l.entity, l.entity_id, l.name, l.campaign, l.changes, m.job_id, true as is_listed,
          l.change as key
      from listed l
      left join matched m on m.change = l.change
      union all
      select o.at, 'service', null, coalesce(o.target ->> 'kind', 'unknown'), coalesce(o.target ->> 'id', ''),
        o.target ->> 'name', o.args ->> 'campaignId', '[]', o.id, false, o.id
      from own o
      where not exists (select from matched m where m.job_id = o.id)
    )
    select e.at, e.by, e.event, e.entity, e.entity_id as "entityId", e.name, e.campaign, e.changes,
      e.is_listed as "isListed",
      e.key, case when o.id is not null then jsonb_build_object('id', o.id, 'action', o.action, 'status',
        o.status) end as job
    from entry e
    left join own o on o.id = e.job_id
    where ${after === null} or (e.at, e.key) < (${after?.at ?? new Date(0)}, ${after?.key ?? ""})
    order by e.at desc, e.key desc
    limit ${limit}`
}
