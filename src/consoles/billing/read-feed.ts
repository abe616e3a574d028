import type { Db } from "../../database/types.ts"
import type { OwnApp } from "../read/app-accounts.ts"
import { PREFERRED } from "./read-billing.ts"

/** One event of a purchase, with the name that the sender gives it. */
interface FeedEvent {
  at: Date
  appId: string
  event: string
  country: string | null
  /** US dollars. Null if the message has no amount in dollars. */
  revenue: number | null
}

/**
 * Returns App Store events of a period, newest first. If several accounts report on an app, only one of them is used.
 */
export async function readFeedEvents(
  sql: Db,
  { workspaceId, apps, from, to }: { workspaceId: number; apps: readonly OwnApp[]; from: Date; to: Date },
  limit: number,
): Promise<FeedEvent[]> {
  return await sql<FeedEvent[]>`
    with own as materialized (
      select distinct on (x.app_id) x.app_id, c.id as account_id
      from connected_account c
      join account_app a on a.account_id = c.id
      join unnest(${apps.map(({ id }) => id)}::text[], ${apps.map(({ iosId }) => iosId)}::text[],
      ${apps.map(({ androidPkg }) => androidPkg)}::text[]) x (app_id, ios_id, android_pkg)
        on a.app_id = x.app_id or (a.app_id is null and not a.by_hand and a.outside_id in (x.ios_id, x.android_pkg))
      where c.workspace_id = ${workspaceId} and c.kind = any(${PREFERRED as string[]}::text[]) and exists (
        select from billing_event where account_id = c.id
      )
      order by x.app_id, array_position(${PREFERRED as string[]}::text[], c.kind), c.created_at, c.id
    )
    select e.happened_at as at, o.app_id as "appId", e.type as event, e.country, e.price_usd::float8 as revenue
    from own o
    cross join lateral (
      select *
      from billing_event
      where account_id = o.account_id and happened_at >= ${from} and happened_at < ${to}
        and environment = 'production' and store = 'app_store' and counts_as not in ('test', 'family_shared')
      order by happened_at desc, event_id
      limit ${limit}
    ) e
    order by e.happened_at desc, o.app_id, e.event_id
    limit ${limit}`
}
