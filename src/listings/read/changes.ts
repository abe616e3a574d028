import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { ListingChange, ListingChangeKind } from "../changes.ts"
import type { Series } from "../store/listing-runs.ts"

export interface ChangesQuery {
  /** Ids in store_app of tracked apps and rivals, or a query that returns each `id` once. */
  apps: readonly number[] | Fragment
  storefront?: string
  from: string
  to: string
  kinds?: readonly ListingChangeKind[]
  limit: number
}

export interface StoredChange extends ListingChange, Series {
  source: SourceName
  /** The UTC day that contains `at`. */
  day: string
}

/**
 * Returns changes, newest first. Each change is listed once: changes seen by a look-up are left out where the app's own
 * page was read too.
 */
export async function readChanges(sql: Db, query: ChangesQuery): Promise<StoredChange[]> {
  const changes: StoredRunChange[] = []
  // The duplicate check works on small chunks, because 200 apps have thousands of changes.
  const atOnce = Math.max(query.limit, 50)
  for (let after: StoredRunChange | undefined; ; ) {
    const page = await readNewestRuns(sql, query, { atOnce, after })
    changes.push(...page.filter(({ isTold }) => isTold))
    if (changes.length >= query.limit || page.length < atOnce) break
    after = page.at(-1)
  }
  return changes.slice(0, query.limit).map(({ isTold: _, ...change }) => ({ ...change, day: dayOf(change.at) }))
}

interface StoredRunChange extends Omit<StoredChange, "day"> {
  isTold: boolean
}

async function readNewestRuns(
  sql: Db,
  { apps, storefront, from, to, kinds }: ChangesQuery,
  { atOnce, after }: { atOnce: number; after: StoredRunChange | undefined },
): Promise<StoredRunChange[]> {
  const only = { storefront: storefront ?? null, kinds: (kinds as string[] | undefined) ?? null }
  const rest = after
    ? sql`and at <= ${after.at} and (at, app_id, storefront, source, kind, subject)
        < (${after.at}, ${after.appId}, ${after.storefront}, ${after.source}, ${after.kind}, ${after.subject})`
    : sql``
  // Chooses the newest rows from the index alone: there may be 200 apps with 200 changes each.
  return await sql<StoredRunChange[]>`
    with newest as materialized (
      select k.*
      from (${Array.isArray(apps) ? sql`select distinct unnest(${apps}::int[]) as id` : (apps as Fragment)}) a
      cross join lateral (
        select app_id, at, storefront, source, kind, subject
        from listing_change
        where app_id = a.id
          and at >= ${`${from}T00:00:00Z`}::timestamptz
          and at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz
          and (${only.storefront}::text is null or storefront = ${only.storefront})
          and (${only.kinds}::text[] is null or kind = any(${only.kinds}::text[]))
          ${rest}
        order by at desc, storefront desc, source desc, kind desc, subject desc
        limit ${atOnce}
      ) k
      order by k.at desc, k.app_id desc, k.storefront desc, k.source desc, k.kind desc, k.subject desc
      limit ${atOnce}
    )
    select c.app_id as "appId", c.storefront, c.source, c.kind, c.subject, c.before, c.after, c.at,
      c.before_seen_at as "beforeSeenAt", not ${shownOnPage(sql)} as "isTold"
    from newest n
    join listing_change c using (app_id, at, storefront, source, kind, subject)
    order by c.at desc, c.app_id desc, c.storefront desc, c.source desc, c.kind desc, c.subject desc`
}

/**
 * Selects whether a look-up's change is left out: the app's own page was also being read at that time, or the page has
 * a change of the same kind in an overlapping period.
 */
function shownOnPage(sql: Db) {
  const page = sql`(r.app_id, r.storefront, r.source, r.section) = (c.app_id, c.storefront, 'apple-app-page', 'page')`
  return sql`(
    c.source = 'itunes-lookup'
    and (
      (
        select r.seen_at
        from listing_run r
        where ${page} and r.first_seen_at <= c.at
        order by r.first_seen_at desc
        limit 1
      ) >= c.at - interval '48 hours'
      and exists (
        select
        from listing_run r
        where ${page} and r.first_seen_at <= c.before_seen_at
      )
      or coalesce(
        (
          select p.before_seen_at
          from listing_change p
          where p.source = 'apple-app-page'
            and (p.app_id, p.storefront, p.kind, p.subject) = (c.app_id, c.storefront, c.kind, c.subject)
            and p.at > c.before_seen_at
          order by p.at
          limit 1
        ) < c.at,
        false
      )
    )
  )`
}
