import type { Sql, Tx } from "../../database/types.ts"
import type { Alert } from "../alert.ts"
import { type AlertRule, wants } from "../rules.ts"

/** At most 200 alerts per transaction, since it reads each of them whole. */
const AT_ONCE = 200

/**
 * Creates a delivery of each waiting alert for each channel that its rule names, if the rule is older than the alert.
 * Returns the number of alerts processed.
 */
export async function queueDeliveries(sql: Sql): Promise<number> {
  const [waiting] = await sql`
    select 1
    from alert_to_deliver
    limit 1`
  if (!waiting) return 0
  return (await sql.begin((tx) => takeAlerts(tx))) as number
}

/** Locks the alerts too. Otherwise the deletion of an app could deadlock with this transaction. */
async function takeAlerts(tx: Tx): Promise<number> {
  const taken = await tx<{ id: number }[]>`
    select q.alert_id as id
    from alert_to_deliver q
    join alert a on a.id = q.alert_id
    order by q.alert_id
    limit ${AT_ONCE}
    for update of q skip locked
    for key share of a skip locked`
  if (taken.length === 0) return 0
  const ids = taken.map(({ id }) => id)
  const wanted = (await readFound(tx, ids)).filter(({ rule, alert, keywordTags }) => wants(rule, alert, keywordTags))
  await tell(tx, wanted)
  await tx`
    delete from alert_to_deliver
    where alert_id = any(${ids}::bigint[])`
  return ids.length
}

interface AlertWithRule {
  alert: Alert
  rule: AlertRule
  keywordTags: Record<string, string[]> | null
  workspaceId: number
}

async function readFound(tx: Tx, ids: readonly number[]): Promise<AlertWithRule[]> {
  type Row = Omit<AlertWithRule, "alert" | "rule"> & Omit<AlertRule, "type"> & Alert
  const rows = await tx<Row[]>`
    select a.id, a.app_id as "appId", a.type, a.platform, a.storefront, a.subject, a.day, a.at, a.facts,
      a.read_at is not null as read, a.history, a.workspace_id as "workspaceId", t.keyword_tags as "keywordTags",
      r.channels, r.drop_by as "dropBy", r.keyword_scope as "keywordScope", r.rival_scope as "rivalScope"
    from alert a
    join alert_rule r on (r.workspace_id, r.type) = (a.workspace_id, a.type)
    join workspace w on w.id = a.workspace_id
    left join tracked_app t on t.id = a.app_id
    where a.id = any(${ids as number[]}::bigint[]) and r.created_at <= a.found_at
      and w.deleted_at is null and w.suspended_at is null
    order by a.id
    limit ${ids.length}`
  return rows.map(({ channels, dropBy, keywordScope, rivalScope, keywordTags, workspaceId, ...alert }) => ({
    alert: alert as Alert,
    rule: { type: alert.type, channels, dropBy, keywordScope, rivalScope } as AlertRule,
    keywordTags,
    workspaceId,
  }))
}

/**
 * Locks the channels first, ordered by id. A delivery to a disabled channel is stored as undelivered, so that the feed
 * shows it.
 */
async function tell(tx: Tx, wanted: readonly AlertWithRule[]): Promise<void> {
  if (wanted.length === 0) return
  const workspaces = [...new Set(wanted.map(({ workspaceId }) => workspaceId))]
  const channels = await tx<{ id: string; workspaceId: number; kind: AlertRule["channels"][number] }[]>`
    select id, workspace_id as "workspaceId", kind
    from channel
    where workspace_id = any(${workspaces}::int[])
    order by id
    for no key update`
  const byWorkspace = Map.groupBy(channels, ({ workspaceId }) => workspaceId)
  const pairs = wanted.flatMap(({ alert, rule, workspaceId }) => {
    const named = (byWorkspace.get(workspaceId) ?? []).filter(({ kind }) => rule.channels.includes(kind))
    return named.map(({ id }) => ({ channel: id, alert: alert.id }))
  })
  for (let at = 0; at < pairs.length; at += CHUNK) await insert(tx, pairs.slice(at, at + CHUNK))
}

const CHUNK = 500

interface Pair {
  channel: string
  alert: number
}

async function insert(tx: Tx, pairs: readonly Pair[]): Promise<void> {
  await tx`
    with written as (
      insert into delivery (id, channel_id, alert_id, state, next_at, ended_at, failure)
      select 'msg_' || replace(gen_random_uuid()::text, '-', ''), c.id, p.alert_id,
        case when c.disabled is null then 'waiting' else 'undelivered' end,
        case when c.disabled is null then now() end, case when c.disabled is not null then now() end, c.disabled
      from unnest(${pairs.map(({ channel }) => channel)}::text[], ${pairs.map(({ alert }) => alert)}::bigint[])
        p (channel_id, alert_id)
      join channel c on c.id = p.channel_id
      order by p.alert_id, c.id
      on conflict (channel_id, alert_id) do nothing
      returning channel_id
    )
    update channel
    set next_at = least(next_at, greatest(now(), paused_until))
    where id in (select channel_id from written) and disabled is null`
}
