import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import type { ListingChangeKind } from "../changes.ts"

/** A change of an app's page as one source shows it. */
export interface SeenChange<Kind = ListingChangeKind> {
  appId: number
  kind: Kind
  before: unknown
  after: unknown
  at: Date
  beforeSeenAt: Date
  source: string
  /**
   * True if a look-up found the change while the app's own page was also being read. Then only the page's change
   * counts.
   */
  isOfPage: boolean
}

interface SeenChangesQuery<Kind> {
  apps: readonly number[]
  storefront: string
  kinds: readonly Kind[]
  from: string
  to: string
}

/** A page reading up to this long before a look-up's change would have shown it. */
const PAGE_HOURS = 48

/**
 * Returns the changes of every source, oldest first. In contrast, readChanges lists each change once, based on all
 * readings so far.
 */
export async function readSeenChanges<Kind extends ListingChangeKind>(
  sql: Db,
  { apps, storefront, kinds, from, to }: SeenChangesQuery<Kind>,
): Promise<SeenChange<Kind>[]> {
  const page = sql`(r.app_id, r.storefront, r.source, r.section) = (c.app_id, c.storefront, 'apple-app-page', 'page')`
  return await sql<SeenChange<Kind>[]>`
    select c.app_id as "appId", c.kind, c.before, c.after, c.at, c.before_seen_at as "beforeSeenAt", c.source,
      c.source = 'itunes-lookup' and coalesce(
        (
          select r.seen_at
          from listing_run r
          where ${page} and r.first_seen_at <= c.at
          order by r.first_seen_at desc
          limit 1
        ) >= c.at - ${PAGE_HOURS}::int * interval '1 hour'
        and exists (
          select
          from listing_run r
          where ${page} and r.first_seen_at <= c.before_seen_at
        ),
        false
      ) as "isOfPage"
    from unnest(${apps as number[]}::int[]) a (id)
    cross join lateral (
      select *
      from listing_change
      where app_id = a.id and at >= ${`${from}T00:00:00Z`}::timestamptz
        and at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz
        and storefront = ${storefront} and kind = any(${kinds as readonly string[] as string[]}::text[])
      offset 0
    ) c
    order by c.at, c.app_id, c.source, c.kind, c.subject`
}
