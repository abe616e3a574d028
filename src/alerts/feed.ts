import type { Fragment } from "postgres"
import type { Right } from "../access/scopes.ts"
import type { Sql } from "../database/types.ts"
import type { Alert } from "./alert.ts"
import type { Channel } from "./delivery/channel-kinds.ts"
import { FEED_TYPES } from "./types.ts"

interface FeedQuery {
  workspaceId: number
  /** Limits the result to these apps. Null for all apps of the workspace. */
  appIds: readonly string[] | null
  limit: number
  /** The rights of the caller. Alerts about ads need ads:read, because they name bids and budgets. */
  rights: readonly Right[]
  only?: FeedFilter
  /** The end of the previous page. */
  after?: FeedPlace | undefined
}

interface FeedFilter {
  appId?: string | undefined
  types?: readonly string[] | undefined
  /** UTC days of the alerts, inclusive. */
  from?: string | undefined
  to?: string | undefined
  /** The earliest `at`, inclusive. */
  since?: Date | undefined
  /** The end of the span of `at`, exclusive. */
  before?: Date | undefined
  read?: boolean | undefined
}

export interface FeedPlace {
  at: Date
  id: number
}

export const DELIVERY_STATES = ["waiting", "delivered", "undelivered"] as const

interface AlertDelivery {
  channel: Channel
  state: (typeof DELIVERY_STATES)[number]
}

export type FeedAlert = Alert & {
  /** Time at which later readings disproved the alert. Null if they did not. */
  withdrawnAt: Date | null
  /** Ordered by kind of channel, then age of the channel. Empty if no rule matched. */
  deliveries: AlertDelivery[]
}

interface Feed {
  /** Number of unread alerts visible to the caller, regardless of the filter. Counted up to UNREAD_COUNTED. */
  unread: number
  /** Newest first: by time of the reading, then by id. */
  alerts: FeedAlert[]
  /** Number of older alerts that match the filter. Counted up to UNREAD_COUNTED. */
  omitted: number
}

/** Counting stops here, because an unread feed may grow by thousands of alerts per day. */
export const UNREAD_COUNTED = 10_000

/** At most 500 alerts per page. */
export const MAX_ALERTS = 500

export async function readFeed(sql: Sql, query: FeedQuery): Promise<Feed> {
  const [alerts, { unread, all }] = await Promise.all([readAlerts(sql, query), countAlerts(sql, query)])
  if (alerts.length < query.limit) return { unread, alerts, omitted: 0 }
  // an alert may have been added between the two queries
  return { unread, alerts, omitted: Math.max(0, all - alerts.length) }
}

/**
 * Returns the alerts found after a time, newest first, without withdrawn ones and those of an import's past days. Reads
 * one more than the limit, to detect that there are more.
 */
export async function readFound(
  sql: Sql,
  { workspaceId, rights, appIds, since, limit }: Omit<FeedQuery, "only" | "after"> & { since: Date },
): Promise<FeedAlert[]> {
  const alerts = await sql<FeedAlert[]>`
    select ${alertColumns(sql)}
    from alert
    where workspace_id = ${workspaceId} and found_at > ${since} and not history and withdrawn_at is null
      and ${allowedBy(sql, rights)}
      ${appIds === null ? sql`` : sql`and app_id = any(${appIds as string[]}::text[])`}
    order by found_at desc, id desc
    limit ${limit + 1}`
  return alerts.sort((a, b) => b.at.getTime() - a.at.getTime() || b.id - a.id)
}

/** Returns the SQL condition for the filter and the page. */
function whereShown(sql: Sql, { only = {}, after, rights }: FeedQuery): Fragment {
  const { appId, types, from, to, since, before, read } = only
  // an alert's reading is never earlier than its day
  const first = from === undefined ? since : new Date(Math.max(Date.parse(from), since?.getTime() ?? 0))
  return sql`${allowedBy(sql, rights)}
    ${appId === undefined ? sql`` : sql`and app_id = ${appId}`}
    ${types ? sql`and type = any(${types as string[]}::text[])` : sql``}
    ${from === undefined ? sql`` : sql`and day >= ${from}::date`}
    ${to === undefined ? sql`` : sql`and day <= ${to}::date`}
    ${first ? sql`and at >= ${first}` : sql``}
    ${before ? sql`and at < ${before}` : sql``}
    ${read === undefined ? sql`` : sql`and read_at is ${read ? sql`not null` : sql`null`}`}
    ${after ? sql`and at <= ${after.at} and (at, id) < (${after.at}, ${after.id})` : sql``}`
}

/** Returns the SQL condition for the types that somebody with these rights may see. */
function allowedBy(sql: Sql, rights: readonly Right[]): Fragment {
  return rights.includes("ads:read") ? sql`true` : sql`type <> all(${ADS_TYPES}::text[])`
}

const ADS_TYPES = FEED_TYPES.filter(({ ofAds }) => ofAds).map(({ name }) => name)

async function readAlerts(sql: Sql, query: FeedQuery): Promise<FeedAlert[]> {
  const { workspaceId, appIds, limit } = query
  const newest = sql`
      select *
      from alert
      where workspace_id = ${workspaceId} and ${whereShown(sql, query)}
      order by at desc, id desc
      -- a literal limit: for a parameter the planner assumes a tenth of the feed and chooses a slow plan
      ${sql.unsafe(`limit ${MAX_ALERTS}`)}`
  // reads each app by itself, since alerts of other apps lie between them in the workspace's feed
  const newestOfEach = sql`
      select a.*
      from (select distinct unnest(${appIds as string[]}::text[]) as app_id) k
      cross join lateral (
        select *
        from alert
        where app_id = k.app_id and workspace_id = ${workspaceId} and ${whereShown(sql, query)}
        order by at desc, id desc
        limit ${limit}
      ) a`
  return await sql<FeedAlert[]>`
    select ${alertColumns(sql)}
    from (${appIds === null ? newest : newestOfEach}) alert
    order by at desc, id desc
    limit ${limit}`
}

const alertColumns = (sql: Sql) => sql`id, app_id as "appId", type, platform, storefront, subject, day, at, facts,
  read_at is not null as read, history, withdrawn_at as "withdrawnAt", (
    select coalesce(json_agg(json_build_object('channel', c.kind, 'state', d.state)
    order by c.kind, c.created_at, c.id), '[]')
    from delivery d
    join channel c on c.id = d.channel_id
    where d.alert_id = alert.id
  ) as deliveries`

/** Counts all visible unread alerts, and those that match the filter. */
async function countAlerts(sql: Sql, query: FeedQuery): Promise<{ unread: number; all: number }> {
  const { workspaceId, appIds, limit, only, after, rights } = query
  const most = UNREAD_COUNTED + limit
  const ofApps = appIds === null ? sql`` : sql`and app_id = any(${appIds as string[]}::text[])`
  const count = (which: Fragment) => sql`(
      select count(*)
      from (
        select
        from alert
        where workspace_id = ${workspaceId} and ${allowedBy(sql, rights)} and ${which} ${ofApps}
        limit ${most}
      ) a
    )`
  const isWhole = !after && Object.values(only ?? {}).every((value) => value === undefined)
  // without a filter the total is unread plus read, so that no alert is counted twice
  const [counted] = await sql<[{ unread: number; readOrMatching: number }]>`
    select ${count(sql`read_at is null`)} as unread,
      ${isWhole ? count(sql`read_at is not null`) : count(whereShown(sql, query))} as "readOrMatching"`
  const { unread, readOrMatching } = counted
  return {
    unread: Math.min(UNREAD_COUNTED, unread),
    all: Math.min(most, isWhole ? unread + readOrMatching : readOrMatching),
  }
}
