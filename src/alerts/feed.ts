import type { Fragment } from "postgres"
import type { Sql } from "../database/types.ts"
import type { Alert } from "./alert.ts"
import type { Channel } from "./rules.ts"

interface FeedQuery {
  workspaceId: number
  /** Only of these apps; null = all of the workspace. */
  appIds: readonly string[] | null
  limit: number
}

export const DELIVERY_STATES = ["waiting", "delivered", "undelivered"] as const

interface AlertDelivery {
  channel: Channel
  state: (typeof DELIVERY_STATES)[number]
}

type FeedAlert = Alert & {
  /** When later readings showed that it does not hold. Null if it holds. */
  withdrawnAt: Date | null
  /** By channels, those of a kind as they were added; none where no rule wants it. */
  deliveries: AlertDelivery[]
}

interface Feed {
  /** Of all that may be seen, not only of those given; counted up to UNREAD_COUNTED. */
  unread: number
  /** Newest first: by when what shows it was seen, then the one found last. */
  alerts: FeedAlert[]
  /** Older ones that may be seen, counted up to UNREAD_COUNTED. */
  omitted: number
}

/** A feed that nobody reads grows by thousands a day: counting them all would take longer every day. */
export const UNREAD_COUNTED = 10_000

/** As many are given at most. */
export const MOST_ALERTS = 500

export async function readFeed(sql: Sql, query: FeedQuery): Promise<Feed> {
  const [alerts, { unread, all }] = await Promise.all([readAlerts(sql, query), countAlerts(sql, query)])
  if (alerts.length < query.limit) return { unread, alerts, omitted: 0 }
  // one may have come meanwhile
  return { unread, alerts, omitted: Math.max(0, all - alerts.length) }
}

async function readAlerts(sql: Sql, { workspaceId, appIds, limit }: FeedQuery): Promise<FeedAlert[]> {
  const newest = sql`
      select *
      from alert
      where workspace_id = ${workspaceId}
      order by at desc, id desc
      -- as a number: of one that it does not know the planner expects a tenth of the feed, and plans anew
      ${sql.unsafe(`limit ${MOST_ALERTS}`)}`
  // of some apps each is looked at by itself: what others are told lies between in the workspace's feed
  const newestOfEach = sql`
      select a.*
      from (select distinct unnest(${appIds as string[]}::text[]) as app_id) k
      cross join lateral (
        select *
        from alert
        where app_id = k.app_id and workspace_id = ${workspaceId}
        order by at desc, id desc
        limit ${limit}
      ) a`
  return await sql<FeedAlert[]>`
    select id, app_id as "appId", type, platform, storefront, subject, day, at, facts, read_at is not null as read,
      history, withdrawn_at as "withdrawnAt", (
        select coalesce(json_agg(json_build_object('channel', c.kind, 'state', d.state) order by c.kind, c.created_at, c.id), '[]')
        from delivery d
        join channel c on c.id = d.channel_id
        where d.alert_id = alert.id
      ) as deliveries
    from (${appIds === null ? newest : newestOfEach}) alert
    order by at desc, id desc
    limit ${limit}`
}

/** The unread and all, which are those and the read: each is looked at once. */
async function countAlerts(
  sql: Sql,
  { workspaceId, appIds, limit }: FeedQuery,
): Promise<{ unread: number; all: number }> {
  const most = UNREAD_COUNTED + limit
  const ofApps = appIds === null ? sql`` : sql`and app_id = any(${appIds as string[]}::text[])`
  const count = (which: Fragment) => sql`(
      select count(*)
      from (
        select
        from alert
        where workspace_id = ${workspaceId} and ${which} ${ofApps}
        limit ${most}
      ) a
    )`
  const [counted] = await sql<[{ unread: number; read: number }]>`
    select ${count(sql`read_at is null`)} as unread, ${count(sql`read_at is not null`)} as read`
  const { unread, read } = counted
  return { unread: Math.min(UNREAD_COUNTED, unread), all: Math.min(most, unread + read) }
}
