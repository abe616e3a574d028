import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../database/types.ts"
import type { Wanted } from "../live-read.ts"
import { appAds } from "../observations/kinds/app-ads.ts"
import { apps } from "../observations/kinds/apps.ts"
import { chart } from "../observations/kinds/chart.ts"
import { search } from "../observations/kinds/search.ts"

/** When what is wanted was last seen, at that moment or later; null when it was not. The demo's searches do not count. */
export async function latestReading(sql: Sql, wanted: Wanted, since: Date): Promise<Date | null> {
  const [row] = await sql<{ seenAt: Date | null }[]>`${SEEN[wanted.kind](sql, wanted, since)}`
  return row?.seenAt ?? null
}

type Latest = (sql: Sql, wanted: Wanted, since: Date) => PendingQuery<Row[]>

const SEEN: Record<Wanted["kind"], Latest> = {
  search: search.latest!,
  app: apps.latest!,
  listing: listingSeen,
  app_ads: appAds.latest!,
  chart: chart.latest!,
}

function listingSeen(sql: Sql, { platform, storefront, subject }: Wanted, since: Date) {
  return sql`
    select max(r.seen_at) as "seenAt"
    from store_app a
    join listing_run r on r.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${subject}) and r.storefront = ${storefront}
      and r.source = 'apple-app-page' and r.section = 'page' and r.seen_at >= ${since}`
}
