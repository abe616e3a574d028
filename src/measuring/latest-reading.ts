import type { Sql } from "../database/types.ts"
import type { AnyKind } from "../observations/kind.ts"
import { appAds } from "../observations/kinds/app-ads.ts"
import { apps } from "../observations/kinds/apps.ts"
import { chart } from "../observations/kinds/chart.ts"
import { listing } from "../observations/kinds/listing.ts"
import { search } from "../observations/kinds/search.ts"
import type { Wanted } from "../vocabulary/live-read.ts"

const KIND_OF: Record<Wanted["kind"], AnyKind> = { search, app: apps, listing, app_ads: appAds, chart }

/** When what is wanted was last seen, at that moment or later; null when it was not. The demo's searches do not count. */
export async function latestReading(sql: Sql, wanted: Wanted, since: Date): Promise<Date | null> {
  const [row] = await sql<{ seenAt: Date | null }[]>`${KIND_OF[wanted.kind].latest!(sql, wanted, since)}`
  return row?.seenAt ?? null
}
