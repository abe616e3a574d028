import type { Sql } from "../database/types.ts"
import type { AppAdsObservation } from "../observations/types.ts"

export interface AppAds extends Pick<AppAdsObservation, "seenAt" | "domain" | "state" | "records" | "variables"> {
  /** UTC. */
  day: string
}

/**
 * What the latest look for the app-ads.txt of an app's developer found (a store_app id); of a day with several, the latest
 * that could tell. Null = nobody looked.
 */
export async function appAdsOf(sql: Sql, appId: number): Promise<AppAds | null> {
  const [row] = await sql<AppAds[]>`
    select day, seen_at as "seenAt", domain, state, records, variables
    from app_ads
    where app_id = ${appId}
    order by day desc
    limit 1`
  return row ?? null
}
